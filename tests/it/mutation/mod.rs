//! How much the tests notice: each word about locks, paths, order and settings is taken out of its
//! procedure, and the tests are run until one of them misses it.
//!
//! `DUROXIDE_SQL_TEST_MUTANTS=all cargo test --test it mutation -- --nocapture` tries them all;
//! `DUROXIDE_SQL_TEST_MUTANTS=fetch_work_item,order` those of some procedures or kinds, and `survivors`
//! those that survived once more, with tests that are too slow for all. What is known is kept in
//! `target/tmp/mutation.tsv`, so that a run can be continued. docs/mutation.md sums up the last one.

mod journal;
mod report;
mod run;
mod stages;
mod texts;
mod trial;

use std::time::Duration;

use crate::support::mutants;
use stages::Stage;
use trial::End;

/// Which mutants to try: `all`, or names of procedures and kinds of words.
const MUTANTS: &str = "DUROXIDE_SQL_TEST_MUTANTS";

/// Words of which it is known which test misses them.
const KNOWN: [(&str, &str, &[&str]); 2] = [
    (
        "_settle_session_lane",
        "UPDLOCK",
        &["hazards::lanes::correction_of_a_lane"],
    ),
    (
        "ack_orchestration_item",
        "XACT_ABORT",
        &["adversity::failures"],
    ),
];

/// The tests pass on the procedures as they are, and miss the words: those that are known, or all
/// that the environment asks for.
#[test]
fn words_that_are_taken_out_are_missed() {
    if let Some(wanted) = std::env::var(MUTANTS).ok().filter(|text| !text.is_empty()) {
        return run::run(&wanted);
    }
    for (procedure, word, tests) in KNOWN {
        let (name, seeds, adversary) = (procedure, None, None);
        let stage = Stage {
            name,
            tests,
            seeds,
            adversary,
        };
        let mutants = mutants::of(procedure);
        let mutant = mutants.iter().find(|mutant| mutant.word == word);
        let mutant = mutant.expect("the procedure has the word");
        // Only a test that never ends takes as long, however busy the machine.
        let patience = Duration::from_secs(1_800);
        assert_eq!(
            trial::run(&stage, &stage.names(), None, patience),
            End::Passed,
            "{name}"
        );
        let end = trial::run(&stage, &stage.names(), Some(mutant), patience);
        assert!(matches!(end, End::Failed(..)), "{mutant} {word}: {end:?}");
    }
}
