//! All wanted mutants, one after the other in two lines, each until something catches it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::journal::{Fate, Journal, Verdict};
use super::report;
use super::stages::{Stage, last_stages, stages};
use super::trial::{self, End};
use crate::support::mutants::words::Kind;
use crate::support::mutants::{self, Mutant};

const LINES: usize = 2;

/// A stage that takes this long, or six times as long as without a mutant, hangs.
const PATIENCE: Duration = Duration::from_secs(40);

/// Names stages; only these are run.
const STAGES: &str = "DUROXIDE_SQL_TEST_MUTANT_STAGES";

/// A stage and how long a mutant may take in it.
type Timed = (Stage, Duration);

/// Asks for the mutants that survived, once more and with other tests.
const SURVIVORS: &str = "survivors";

/// Which tests come to a procedure, by the names of stage and procedure.
type Reach = Mutex<BTreeMap<(&'static str, String), Vec<String>>>;

struct Bench {
    stages: Vec<Timed>,
    reach: Reach,
    open: Mutex<VecDeque<Mutant>>,
    journal: Mutex<Journal>,
}

pub fn run(wanted: &str) {
    let (again, names): (Vec<&str>, Vec<&str>) = wanted
        .split(',')
        .map(str::trim)
        .partition(|name| *name == SURVIVORS);
    let all = selected(&names);
    let journal = Journal::open();
    let is_open = |mutant: &&Mutant| match journal.get(mutant) {
        None => again.is_empty(),
        Some(verdict) => !again.is_empty() && verdict.fate == Fate::Survived,
    };
    let open: VecDeque<Mutant> = all.iter().filter(is_open).cloned().collect();
    println!(
        "{} words, {} to be tried; journal {}",
        all.len(),
        open.len(),
        journal.path().display()
    );
    let stages = match (open.is_empty(), again.is_empty()) {
        (true, _) => Vec::new(),
        (false, true) => green(stages()),
        (false, false) => green([stages(), last_stages()].concat()),
    };
    let bench = Bench {
        stages,
        reach: Mutex::default(),
        open: Mutex::new(open),
        journal: Mutex::new(journal),
    };
    std::thread::scope(|scope| {
        for _ in 0..LINES {
            scope.spawn(|| bench.work());
        }
    });
    report::print(&all, &bench.journal.into_inner().expect("no line panics"));
}

/// The mutants of the procedures and kinds that are named, kind by kind.
fn selected(names: &[&str]) -> Vec<Mutant> {
    let names = names.iter().filter(|name| **name != "all");
    let (kinds, procedures): (Vec<&str>, Vec<&str>) =
        names.partition(|name| name.parse::<Kind>().is_ok());
    let kinds: Vec<Kind> = kinds.iter().filter_map(|name| name.parse().ok()).collect();
    let known = mutants::procedures();
    for name in &procedures {
        assert!(known.iter().any(|k| k == name), "no procedure {name}");
    }
    let mut selected: Vec<Mutant> = known
        .iter()
        .filter(|name| procedures.is_empty() || procedures.contains(&name.as_str()))
        .flat_map(|name| mutants::of(name))
        .filter(|mutant| kinds.is_empty() || kinds.contains(&mutant.kind))
        .collect();
    selected.sort_by_key(|mutant| Kind::ALL.iter().position(|kind| *kind == mutant.kind));
    selected
}

/// The stages that the procedures pass as they are. A mutant is not blamed for the others.
fn green(stages: Vec<Stage>) -> Vec<Timed> {
    let wanted = std::env::var(STAGES).unwrap_or_default();
    let mut green = Vec::new();
    for stage in stages {
        if !wanted.is_empty() && !wanted.split(',').any(|name| stage.name == name) {
            continue;
        }
        let began = Instant::now();
        let end = trial::run(&stage, &stage.names(), None, Duration::from_secs(900));
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

impl Bench {
    fn work(&self) {
        loop {
            let next = self.open.lock().expect("no line panics").pop_front();
            let Some(mutant) = next else {
                return;
            };
            let began = Instant::now();
            let verdict = self.judge(&mutant);
            println!(
                "{:8} {mutant} {} {}: {} {} ({:?})",
                verdict.fate.name(),
                mutant.kind,
                mutant.word,
                verdict.by,
                verdict.how,
                began.elapsed()
            );
            let mut journal = self.journal.lock().expect("no line panics");
            journal.enter(&mutant, verdict);
        }
    }

    fn judge(&self, mutant: &Mutant) -> Verdict {
        let mut tried = Vec::new();
        for (stage, at_most) in &self.stages {
            let tests = self.reaching(stage, &mutant.procedure);
            if tests.is_empty() {
                continue;
            }
            tried.push(format!("{} ({})", stage.name, tests.len()));
            let by = |test: &str| format!("{}: {test}", stage.name);
            let (fate, by, how) = match trial::run(stage, &tests, Some(mutant), *at_most) {
                End::Passed => continue,
                End::Failed(test, how) => (Fate::Caught, by(&test), how),
                End::Hung(test) => (Fate::Caught, by(&test), "hangs".to_owned()),
                End::Refused(how) => (Fate::Refused, stage.name.to_owned(), how),
            };
            return Verdict { fate, by, how };
        }
        Verdict {
            fate: Fate::Survived,
            by: tried.join(", "),
            how: String::new(),
        }
    }

    /// The tests of a stage that come to a procedure. They are asked for once.
    fn reaching(&self, stage: &Stage, procedure: &str) -> Vec<String> {
        let key = (stage.name, procedure.to_owned());
        let known = |reach: &Reach| reach.lock().expect("no line panics").get(&key).cloned();
        known(&self.reach).unwrap_or_else(|| {
            let tests = trial::reaching(stage, procedure);
            let mut reach = self.reach.lock().expect("no line panics");
            reach.insert(key, tests.clone());
            tests
        })
    }
}
