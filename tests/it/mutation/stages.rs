//! Which tests are run against a mutant, the quick ones first.

use std::ops::Range;

/// Some tests, on servers of some kind.
#[derive(Clone, Debug)]
pub struct Stage {
    pub name: &'static str,
    /// Parts of the tests' names.
    pub tests: &'static [&'static str],
    /// The seeds of the tests of adversity; they decide on snapshot reads and optimized locking too.
    pub seeds: Option<Range<u64>>,
    /// The seed of an adversary on every server.
    pub adversary: Option<u64>,
}

/// What speaks to the procedures directly, and is soon over.
const DIRECT: &[&str] = &[
    "procedures::claims",
    "procedures::counting",
    "procedures::deletion",
    "procedures::fencing",
    "procedures::ghosts",
    "procedures::hazards",
    "procedures::invariants",
    "procedures::moving",
    "procedures::sessions",
    "procedures::transactions",
    "procedures::wait_for_work",
    "histories::",
    "interleavings::",
    "clocks::",
];

impl Stage {
    const fn plain(name: &'static str, tests: &'static [&'static str]) -> Self {
        Self {
            name,
            tests,
            seeds: None,
            adversary: None,
        }
    }

    /// With an adversary, and with these seeds where the tests have seeds.
    const fn against(self, seeds: Range<u64>) -> Self {
        Self {
            adversary: Some(seeds.start),
            seeds: Some(seeds),
            ..self
        }
    }

    pub fn names(&self) -> Vec<String> {
        self.tests.iter().map(|name| (*name).to_owned()).collect()
    }

    /// The variables that the tests read.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let seeds = self
            .seeds
            .clone()
            .map(|s| format!("{}..{}", s.start, s.end));
        let adversary = self.adversary.map(|seed| seed.to_string());
        let seeds = ("DUROXIDE_SQL_TEST_SEEDS", seeds.unwrap_or_default());
        let adversary = ("DUROXIDE_SQL_TEST_ADVERSARY", adversary.unwrap_or_default());
        vec![seeds, adversary]
    }
}

/// Everything that a mutant has to survive.
pub fn stages() -> Vec<Stage> {
    let plain = Stage::plain;
    vec![
        plain("grain", &["adversity::grain"]).against(0..2),
        plain("paths", &["adversity::paths"]).against(0..4),
        plain("settings", &["adversity::settings"]),
        plain("model", &["adversity::sequences"]).against(0..12),
        plain("held", &["adversity::held"]).against(0..2),
        plain("kept", &["adversity::kept"]).against(0..4),
        plain("orders", &["adversity::orders", "adversity::steps"]).against(0..8),
        plain("batches", &["adversity::batches"]).against(0..4),
        plain("direct", DIRECT),
        plain("failures", &["adversity::failures", "adversity::levels"]),
        plain("load", &["adversity::load::mixed"]).against(0..2),
        plain("pairs", &["adversity::pairs"]).against(0..2),
        plain("optimized pairs", &["adversity::pairs"]).against(2..4),
        plain("costs", &["costs::", "durability::"]),
        plain("rows", &["procedures::cost"]),
        plain("adverse direct", DIRECT).against(2..3),
        plain("more load", &["adversity::load::mixed"]).against(2..16),
    ]
}

/// Slow tests, for those mutants that survived the others.
pub fn last_stages() -> Vec<Stage> {
    vec![
        Stage::plain("runtime", &["e2e::", "views::"]).against(8..9),
        Stage::plain("conformance", &["conformance::"]).against(8..9),
    ]
}
