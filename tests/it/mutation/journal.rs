//! What is known of the mutants so far, so that a run can be continued.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use crate::support::mutants::Mutant;

/// What became of a mutant.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub fate: Fate,
    /// The stage and the test that decided it; the stages that were run, if none did.
    pub by: String,
    pub how: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Caught,
    Survived,
    /// No server accepts the text without the word.
    Refused,
}

impl Fate {
    pub fn name(self) -> &'static str {
        match self {
            Self::Caught => "caught",
            Self::Survived => "survived",
            Self::Refused => "refused",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::Caught, Self::Survived, Self::Refused]
            .into_iter()
            .find(|fate| fate.name() == name)
    }
}

/// Verdicts by mutant and by the text that it was made from: a procedure that has changed is tried anew.
pub struct Journal {
    path: PathBuf,
    verdicts: BTreeMap<String, Verdict>,
}

fn key(mutant: &Mutant) -> String {
    format!("{mutant} {:x}", mutant.original)
}

impl Journal {
    pub fn open() -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mutation.tsv");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let verdicts = text.lines().filter_map(read).collect();
        Self { path, verdicts }
    }

    pub fn path(&self) -> &PathBuf {
        &self.path
    }

    pub fn get(&self, mutant: &Mutant) -> Option<&Verdict> {
        self.verdicts.get(&key(mutant))
    }

    pub fn enter(&mut self, mutant: &Mutant, verdict: Verdict) {
        let Verdict { fate, by, how } = &verdict;
        let line = [&key(mutant), fate.name(), by, how]
            .map(|field| field.replace(['\t', '\n', '\r'], " "))
            .join("\t");
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path);
        let mut file = file.expect("the journal can be written");
        writeln!(file, "{line}").expect("the journal can be written");
        self.verdicts.insert(key(mutant), verdict);
    }
}

fn read(line: &str) -> Option<(String, Verdict)> {
    let mut fields = line.split('\t').map(str::to_owned);
    let key = fields.next()?;
    let fate = Fate::named(&fields.next()?)?;
    let (by, how) = (fields.next()?, fields.next()?);
    Some((key, Verdict { fate, by, how }))
}
