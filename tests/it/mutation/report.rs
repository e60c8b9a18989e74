//! The run in figures, and what survived it.

use std::collections::BTreeMap;

use super::journal::{Fate, Journal};
use crate::support::mutants::Mutant;
use crate::support::mutants::words::Kind;

#[derive(Default)]
struct Count {
    caught: usize,
    survived: usize,
    refused: usize,
}

pub fn print(all: &[Mutant], journal: &Journal) {
    let mut kinds: BTreeMap<(Kind, String), Count> = BTreeMap::new();
    let mut stages: BTreeMap<String, usize> = BTreeMap::new();
    let mut survivors = Vec::new();
    for mutant in all {
        let Some(verdict) = journal.get(mutant) else {
            continue;
        };
        let count = kinds.entry((mutant.kind, class(mutant))).or_default();
        match verdict.fate {
            Fate::Caught => {
                count.caught += 1;
                let stage = verdict.by.split(':').next().unwrap_or_default();
                *stages.entry(stage.to_owned()).or_default() += 1;
            }
            Fate::Survived => {
                count.survived += 1;
                survivors.push(mutant);
            }
            Fate::Refused => count.refused += 1,
        }
    }
    println!("\n| kind | word | words | caught | survived | refused |\n|---|---|---|---|---|---|");
    for ((kind, word), count) in &kinds {
        let (caught, survived, refused) = (count.caught, count.survived, count.refused);
        let words = caught + survived + refused;
        println!("| {kind} | {word} | {words} | {caught} | {survived} | {refused} |");
    }
    println!("\ncaught by stage: {stages:?}\n\nsurvivors:");
    for mutant in survivors {
        println!("{mutant} {}", mutant.word);
    }
}

/// The word without what it names.
fn class(mutant: &Mutant) -> String {
    match mutant.kind {
        Kind::Order => "ORDER BY".to_owned(),
        Kind::Setting => {
            let words = mutant.word.trim_start_matches("SET ");
            words.split(' ').next().unwrap_or_default().to_owned()
        }
        Kind::Lock | Kind::Path | Kind::Distinct | Kind::Choice => {
            let word = mutant.word.split(['(', ' ']).next();
            word.unwrap_or_default().to_owned()
        }
    }
}
