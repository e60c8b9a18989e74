//! All wanted mutants, one after the other in two lines, each until something catches it.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::journal::{Fate, Journal, Verdict};
use super::report;
use super::stages::{Stage, stages};
use super::trial::{self, End};
use crate::support::mutants::words::Kind;
use crate::support::mutants::{self, Mutant};

const LINES: usize = 2;

/// A stage that takes this long, or six times as long as without a mutant, hangs.
const PATIENCE: Duration = Duration::from_secs(40);

/// Names a part of a stage's name; only such stages are run.
const STAGES: &str = "DUROXIDE_SQL_TEST_MUTANT_STAGES";

/// A stage and how long a mutant may take in it.
type Timed = (Stage, Duration);

pub fn run(wanted: &str) {
    let all = selected(wanted);
    let mut journal = Journal::open();
    let open: VecDeque<Mutant> = all
        .iter()
        .filter(|mutant| journal.get(mutant).is_none())
        .cloned()
        .collect();
    println!(
        "{} words, {} not tried yet; journal {}",
        all.len(),
        open.len(),
        journal.path().display()
    );
    if !open.is_empty() {
        let timed = green();
        assert!(!timed.is_empty(), "some stage is green without a mutant");
        let shared = (Mutex::new(open), Mutex::new(journal));
        std::thread::scope(|scope| {
            for _ in 0..LINES {
                scope.spawn(|| work(&timed, &shared.0, &shared.1));
            }
        });
        journal = shared.1.into_inner().expect("no line panics");
    }
    report::print(&all, &journal);
}

/// The mutants of the procedures and kinds that are named.
fn selected(wanted: &str) -> Vec<Mutant> {
    let names: Vec<&str> = wanted.split(',').map(str::trim).collect();
    let (kinds, procedures): (Vec<&str>, Vec<&str>) = names
        .into_iter()
        .filter(|name| *name != "all")
        .partition(|name| name.parse::<Kind>().is_ok());
    let kinds: Vec<Kind> = kinds.iter().filter_map(|name| name.parse().ok()).collect();
    let known = mutants::procedures();
    for name in &procedures {
        assert!(known.iter().any(|k| k == name), "no procedure {name}");
    }
    known
        .iter()
        .filter(|name| procedures.is_empty() || procedures.contains(&name.as_str()))
        .flat_map(|name| mutants::of(name))
        .filter(|mutant| kinds.is_empty() || kinds.contains(&mutant.kind))
        .collect()
}

/// The stages that the procedures pass as they are. A mutant is not blamed for the others.
fn green() -> Vec<Timed> {
    let wanted = std::env::var(STAGES).unwrap_or_default();
    let mut green = Vec::new();
    for stage in stages() {
        if !stage.name.contains(&wanted) {
            continue;
        }
        let began = Instant::now();
        let end = trial::run(&stage, None, Duration::from_secs(900));
        let took = began.elapsed();
        if end == End::Passed {
            println!("{}: green without a mutant, {took:?}", stage.name);
            green.push((stage, PATIENCE.max(took * 6)));
        } else {
            println!("{}: LEFT OUT, red without a mutant: {end:?}", stage.name);
        }
    }
    green
}

fn work(stages: &[Timed], open: &Mutex<VecDeque<Mutant>>, journal: &Mutex<Journal>) {
    loop {
        let next = open.lock().expect("no line panics").pop_front();
        let Some(mutant) = next else {
            return;
        };
        let began = Instant::now();
        let verdict = judge(&mutant, stages);
        println!(
            "{:8} {mutant} {} {}: {} {} ({:?})",
            verdict.fate.name(),
            mutant.kind,
            mutant.word,
            verdict.by,
            verdict.how,
            began.elapsed()
        );
        journal
            .lock()
            .expect("no line panics")
            .enter(&mutant, verdict);
    }
}

fn judge(mutant: &Mutant, stages: &[Timed]) -> Verdict {
    for (stage, at_most) in stages {
        let by = |test: &str| format!("{}: {test}", stage.name);
        let (fate, by, how) = match trial::run(stage, Some(mutant), *at_most) {
            End::Passed => continue,
            End::Failed(test, how) => (Fate::Caught, by(&test), how),
            End::Hung(test) => (Fate::Caught, by(&test), "hangs".to_owned()),
            End::Refused(how) => (Fate::Refused, stage.name.to_owned(), how),
        };
        return Verdict { fate, by, how };
    }
    let names: Vec<&str> = stages.iter().map(|(stage, _)| stage.name).collect();
    Verdict {
        fate: Fate::Survived,
        by: names.join(", "),
        how: String::new(),
    }
}
