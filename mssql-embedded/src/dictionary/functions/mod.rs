//! The metadata functions, one file per family. A function that is not listed here cannot be called.

mod applocks;
mod columns;
mod databases;
mod objects;
mod permissions;
mod principals;
mod properties;
mod schemas;
mod types;

use super::Metadata;

pub fn all() -> impl Iterator<Item = &'static Metadata> {
    [
        applocks::FUNCTIONS,
        columns::FUNCTIONS,
        databases::FUNCTIONS,
        objects::FUNCTIONS,
        permissions::FUNCTIONS,
        principals::FUNCTIONS,
        properties::FUNCTIONS,
        schemas::FUNCTIONS,
        types::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}
