//! Reads expectations: what stands behind `-- expect`.

use anyhow::{Context, Result, bail};

use super::model::{Expect, ExpectedError, ResultSet};

/// Adds one expectation, given as the text after `-- expect`.
pub fn expect(expect: &mut Expect, text: &str) -> Result<()> {
    let sets = &mut expect.sets;
    if let Some(columns) = text.strip_prefix("columns:") {
        let columns = columns_of(columns);
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
    } else if let Some(place) = text.strip_prefix("at line ") {
        let (line, procedure) = place.split_once(" in ").unwrap_or((place, ""));
        expect.place = Some((line.trim().parse()?, procedure.trim().to_owned()));
    } else if let Some(status) = text.strip_prefix("status ") {
        expect.status = Some(status.trim().parse()?);
    } else if let Some(output) = text.strip_prefix("output ") {
        let (name, value) = output
            .split_once('=')
            .context("an output needs @name = value")?;
        let value = values(value).swap_remove(0);
        expect.outputs.push((name.trim().to_owned(), value));
    } else {
        bail!("unknown expectation: {text}");
    }
    Ok(())
}

/// Names and types, separated by commas outside of parentheses.
fn columns_of(text: &str) -> Vec<(String, String)> {
    let mut list = vec![String::new()];
    let mut depth = 0;
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            list.push(String::new());
        } else if let Some(last) = list.last_mut() {
            last.push(c);
        }
    }
    list.iter()
        .map(|column| {
            let column = column.trim();
            let (name, ty) = column.rsplit_once(' ').unwrap_or(("", column));
            (name.trim().to_owned(), ty.to_owned())
        })
        .collect()
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
