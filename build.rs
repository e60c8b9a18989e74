//! Rebuilds the crate when a file is added to `migrations/`, which the include macro cannot see.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
