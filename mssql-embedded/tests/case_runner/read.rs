//! Reads case files.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::expect::expect;
use super::model::{Batch, Case};

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
                snapshot: Vec::new(),
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
        case.batches
            .retain(|batch| !batch.text.trim().is_empty() || batch.login.is_some());
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
    if let Some(settings) = line.strip_prefix("-- read_committed_snapshot ") {
        case.snapshot = settings
            .split(',')
            .map(|setting| match setting.trim() {
                "on" => Ok(true),
                "off" => Ok(false),
                other => bail!("{other} is neither on nor off"),
            })
            .collect::<Result<_>>()?;
        return Ok(());
    }
    let Some(batch) = case.batches.last_mut() else {
        bail!("no batch");
    };
    if let Some(name) = line.strip_prefix("-- on ") {
        batch.connection = name.trim().to_owned();
        return Ok(());
    }
    if let Some(login) = line.strip_prefix("-- login ") {
        let (user, password) = login
            .trim()
            .split_once(' ')
            .context("a login needs user and password")?;
        batch.login = Some((user.to_owned(), password.trim().to_owned()));
        batch.line = number;
        return Ok(());
    }
    if line.trim_end() == "-- blocks" {
        batch.blocks = true;
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
        !batch.text.trim().is_empty() || batch.login.is_some(),
        "an expectation before any statement"
    );
    expect(&mut batch.expect, expectation.trim())
}
