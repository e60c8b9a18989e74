//! Rebuilds the crate when a file is added to `migrations/`, which the include macro cannot see, and
//! says which cargo features exclude each other, before the driver fails for it with worse words.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
    let is_on = |name: &str| std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some();
    match (is_on("RUSTLS"), is_on("NATIVE_TLS")) {
        (true, true) => println!(
            "cargo::error=the features rustls and native-tls exclude each other: the driver speaks TLS \
             in one way. For native-tls write default-features = false, and name the features you \
             need instead of asking for all"
        ),
        (false, false) => println!(
            "cargo::error=without default features choose how TLS is spoken: the feature rustls or \
             native-tls"
        ),
        _ => {}
    }
}
