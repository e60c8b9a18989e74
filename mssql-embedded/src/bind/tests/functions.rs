//! What the name of a function means.

use std::collections::HashMap;

use crate::bind::{call, window};
use crate::func::{self, Aggregate};
use crate::refused::{self, Kind};

/// Functions are found in several lists, one after the other: what stood in two of them would mean one thing here and
/// another there, and what is refused must not also exist.
#[test]
fn every_name_is_in_one_list() {
    let windows = window::RANKING.iter().chain(window::POSITIONAL);
    let lists: [(&str, Vec<&str>); 6] = [
        ("the register of functions", func::names().collect()),
        (
            "the aggregates",
            Aggregate::NAMES.iter().map(|(name, _)| *name).collect(),
        ),
        (
            "the window functions",
            windows.map(|(name, _)| *name).collect(),
        ),
        (
            "the forms of the binder",
            call::FORMS.iter().map(|(name, _)| *name).collect(),
        ),
        (
            "the forms of the parser",
            crate::parse::expression_names().collect(),
        ),
        ("what is refused", refused::names(Kind::Function).collect()),
    ];
    let mut seen = HashMap::new();
    for (list, names) in lists {
        assert!(!names.is_empty(), "{list}");
        for name in names {
            assert_eq!(name, name.to_ascii_uppercase());
            if let Some(other) = seen.insert(name, list) {
                panic!("{name} is in {list} and in {other}");
            }
        }
    }
}
