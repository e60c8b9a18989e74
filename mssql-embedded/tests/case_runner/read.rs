//! Reads case files.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::model::{Batch, Case, ExpectedError, ResultSet};

/// All cases of a folder, in the order of their files.
pub fn load(folder: &Path) -> Result<Vec<Case>> {
    let mut files: Vec<_> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.retain(|path| path.extension().is_some_and(|e| e == "sql"));
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)?;
        let topic = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let read = read_file(&topic, &text).with_context(|| format!("in {}", file.display()))?;
        cases.extend(read);
    }
    let mut titles: Vec<_> = cases.iter().map(Case::title).collect();
    titles.sort();
    if let Some(pair) = titles.windows(2).find(|pair| pair[0] == pair[1]) {
        bail!("two cases are called {}", pair[0]);
    }
    Ok(cases)
}

fn read_file(topic: &str, text: &str) -> Result<Vec<Case>> {
    let reason = text.lines().next().unwrap_or_default();
    ensure!(
        reason.starts_with("-- ") && !reason.starts_with("-- case:"),
        "the first line must say why SQL Server answers as it does"
    );
    let mut cases: Vec<Case> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        if let Some(name) = line.strip_prefix("-- case:") {
            cases.push(Case {
                topic: topic.to_owned(),
                name: name.trim().to_owned(),
                file: format!("{topic}.sql"),
                line: number,
                refused: None,
                batches: vec![Batch::default()],
            });
            continue;
        }
        // Lines before the first case belong to the topic's explanation.
        let Some(case) = cases.last_mut() else {
            continue;
        };
        read_line(case, line, number).with_context(|| format!("line {number}"))?;
    }
    for case in &mut cases {
        case.batches.retain(|batch| !batch.text.trim().is_empty());
        ensure!(!case.batches.is_empty(), "the case {} is empty", case.name);
    }
    Ok(cases)
}

fn read_line(case: &mut Case, line: &str, number: usize) -> Result<()> {
    if line.trim().eq_ignore_ascii_case("GO") {
        case.batches.push(Batch::default());
        return Ok(());
    }
    if let Some(what) = line.strip_prefix("-- embedded refuses ") {
        case.refused = Some(what.trim().to_owned());
        return Ok(());
    }
    let Some(batch) = case.batches.last_mut() else {
        bail!("no batch");
    };
    if let Some(name) = line.strip_prefix("-- on ") {
        batch.connection = name.trim().to_owned();
        return Ok(());
    }
    let Some(expectation) = line.trim_start().strip_prefix("-- expect ") else {
        if batch.text.is_empty() {
            if line.trim().is_empty() {
                return Ok(());
            }
            batch.line = number;
        }
        batch.text.push_str(line);
        batch.text.push('\n');
        return Ok(());
    };
    ensure!(
        !batch.text.trim().is_empty(),
        "an expectation before any statement"
    );
    expect(batch, expectation.trim())
}

fn expect(batch: &mut Batch, text: &str) -> Result<()> {
    let expect = &mut batch.expect;
    let sets = &mut expect.sets;
    if let Some(columns) = text.strip_prefix("columns:") {
        let columns = columns
            .split(',')
            .map(|column| {
                let column = column.trim();
                let (name, ty) = column.rsplit_once(' ').unwrap_or(("", column));
                (name.trim().to_owned(), ty.to_owned())
            })
            .collect();
        sets.get_or_insert_default().push(ResultSet {
            columns: Some(columns),
            rows: Vec::new(),
        });
    } else if let Some(row) = text.strip_prefix("row:") {
        let sets = sets.get_or_insert_default();
        if sets.is_empty() {
            sets.push(ResultSet::default());
        }
        if let Some(set) = sets.last_mut() {
            set.rows.push(values(row));
        }
    } else if text == "set" || text == "rows: none" {
        let sets = sets.get_or_insert_default();
        // `rows: none` right after its columns only states what is already so.
        if text == "set"
            || sets
                .last()
                .is_none_or(|set| !set.rows.is_empty() || set.columns.is_none())
        {
            sets.push(ResultSet::default());
        }
    } else if text == "no result" {
        sets.get_or_insert_default();
    } else if let Some(error) = text.strip_prefix("error ") {
        expect.errors.push(error_of(error)?);
    } else if let Some(info) = text.strip_prefix("info ") {
        expect.infos.push(info.trim().to_owned());
    } else if let Some(counts) = text.strip_prefix("rowcount") {
        let counts = counts.trim().trim_start_matches("none");
        let counts = counts.split(',').map(str::trim).filter(|c| !c.is_empty());
        expect.rowcounts = Some(counts.map(str::parse).collect::<Result<_, _>>()?);
    } else {
        bail!("unknown expectation: {text}");
    }
    Ok(())
}

fn error_of(text: &str) -> Result<ExpectedError> {
    let mut words = text.splitn(4, ' ');
    let mut next = || {
        words
            .next()
            .context("an error needs number, severity and state")
    };
    let number = next()?.parse()?;
    let severity = unless_any(next()?)?;
    let state = unless_any(next()?)?;
    let fragment = words.next().unwrap_or_default().trim().to_owned();
    Ok(ExpectedError {
        number,
        severity,
        state,
        fragment,
    })
}

/// A number, or `*` for any.
fn unless_any(word: &str) -> Result<Option<u8>> {
    if word == "*" {
        Ok(None)
    } else {
        Ok(Some(word.parse()?))
    }
}

/// The values of a row: separated by `|` outside of quotes; `N'x'` and `'x'` are the same.
fn values(row: &str) -> Vec<String> {
    let mut list = vec![String::new()];
    let mut quoted = false;
    for c in row.chars() {
        match c {
            '|' if !quoted => list.push(String::new()),
            _ => {
                quoted ^= c == '\'';
                if let Some(last) = list.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    list.iter()
        .map(|value| {
            let value = value.trim();
            match value.strip_prefix('N') {
                Some(rest) if rest.starts_with('\'') => rest.to_owned(),
                _ => value.to_owned(),
            }
        })
        .collect()
}
