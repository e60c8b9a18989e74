//! Compares an answer with what was expected and words the differences.

use super::listen::Heard;
use super::model::{Batch, Expect, ExpectedError, ResultSet};
use super::types::type_matches;

/// What the server answered to one batch.
#[derive(Default)]
pub struct Answer {
    /// The result sets up to the first error the driver reported.
    pub sets: Vec<AnswerSet>,
    /// That error.
    pub error: Option<tiberius::error::Error>,
    /// Row counts, when asked for.
    pub rowcounts: Vec<u64>,
    /// The return status of a remote procedure call.
    pub status: Option<i32>,
    /// Its output parameters.
    pub outputs: Vec<(String, String)>,
    /// Messages and errors seen on the way.
    pub overheard: Heard,
}

/// A result set as answered.
#[derive(Default)]
pub struct AnswerSet {
    pub columns: Vec<(String, String)>,
    pub rows: Vec<Vec<String>>,
}

/// The differences; `schema` is what `$(s)` stands for in expected messages.
pub fn compare(batch: &Batch, answer: &Answer, schema: &str) -> Vec<String> {
    let mut differences = Vec::new();
    let expected: Vec<ExpectedError> = batch
        .expect
        .errors
        .iter()
        .map(|e| e.in_schema(schema))
        .collect();
    compare_errors(&expected, answer, &mut differences);
    if let Some(expected) = &batch.expect.sets {
        let expected: Vec<ResultSet> = expected.iter().map(|s| s.in_schema(schema)).collect();
        compare_sets(&expected, &answer.sets, &mut differences);
    }
    for info in &batch.expect.infos {
        if !answer
            .overheard
            .infos
            .iter()
            .any(|heard| heard.contains(info))
        {
            differences.push(format!(
                "expected the message {info:?}, heard {:?}",
                answer.overheard.infos
            ));
        }
    }
    compare_call(&batch.expect, answer, &mut differences);
    compare_place(&batch.expect, answer, schema, &mut differences);
    if let Some(expected) = &batch.expect.rowcounts
        && answer.error.is_none()
        && *expected != answer.rowcounts
    {
        differences.push(format!(
            "expected row counts {expected:?}, got {:?}",
            answer.rowcounts
        ));
    }
    differences
}

/// Return status and output parameters.
fn compare_call(expect: &Expect, answer: &Answer, differences: &mut Vec<String>) {
    if let Some(status) = expect.status
        && answer.status != Some(status)
    {
        differences.push(format!(
            "expected the return status {status}, got {:?}",
            answer.status
        ));
    }
    for (name, value) in &expect.outputs {
        let got = answer.outputs.iter().find(|(n, _)| n == name);
        if got.is_none_or(|(_, v)| v != value) {
            differences.push(format!(
                "expected {name} = {value}, got {:?}",
                answer.outputs
            ));
        }
    }
}

/// Where the first error says it happened.
fn compare_place(expect: &Expect, answer: &Answer, schema: &str, differences: &mut Vec<String>) {
    let (Some((line, procedure)), Some(tiberius::error::Error::Server(error))) =
        (&expect.place, &answer.error)
    else {
        return;
    };
    let procedure = procedure.replace("$(s)", schema);
    if *line != error.line() || procedure != error.procedure() {
        differences.push(format!(
            "expected the error at line {line} in {procedure:?}, got line {} in {:?}",
            error.line(),
            error.procedure()
        ));
    }
}

fn compare_errors(expected: &[ExpectedError], answer: &Answer, differences: &mut Vec<String>) {
    let shown = match &answer.error {
        Some(tiberius::error::Error::Server(e)) => {
            format!(
                "error {} {} {} {}",
                e.code(),
                e.class(),
                e.state(),
                e.message()
            )
        }
        Some(other) => format!("failure: {other}"),
        None => "no error".to_owned(),
    };
    let Some(first) = expected.first() else {
        if answer.error.is_some() {
            differences.push(format!("expected no error, got {shown}"));
        }
        return;
    };
    let same = match &answer.error {
        Some(tiberius::error::Error::Server(e)) => {
            e.code() == first.number
                && first.severity.is_none_or(|severity| e.class() == severity)
                && first.state.is_none_or(|state| e.state() == state)
                && e.message().contains(&first.fragment)
        }
        _ => false,
    };
    if !same {
        differences.push(format!(
            "expected error {} {} {} {}, got {shown}",
            first.number,
            show_any(first.severity),
            show_any(first.state),
            first.fragment
        ));
        return;
    }
    // Errors after the last one stated are not looked at.
    let heard = answer.overheard.errors.iter().map(|(code, _)| *code);
    let heard: Vec<u32> = heard.take(expected.len()).collect();
    let wanted: Vec<u32> = expected.iter().map(|e| e.number).collect();
    if heard != wanted {
        differences.push(format!("expected the errors {wanted:?}, got {heard:?}"));
    }
    for (want, (_, message)) in expected.iter().zip(&answer.overheard.errors) {
        if !message.contains(&want.fragment) {
            differences.push(format!("expected {:?} in {message:?}", want.fragment));
        }
    }
}

fn compare_sets(expected: &[ResultSet], got: &[AnswerSet], differences: &mut Vec<String>) {
    if expected.len() != got.len() {
        differences.push(format!(
            "expected {} result sets, got {}: {}",
            expected.len(),
            got.len(),
            got.iter().map(show).collect::<Vec<_>>().join("; ")
        ));
        return;
    }
    for (want, have) in expected.iter().zip(got) {
        let columns_differ = want.columns.as_ref().is_some_and(|columns| {
            columns.len() != have.columns.len()
                || columns
                    .iter()
                    .zip(&have.columns)
                    .any(|(w, h)| (w.0 != "*" && w.0 != h.0) || !type_matches(&w.1, &h.1))
        });
        if columns_differ {
            differences.push(format!(
                "expected the columns {:?}, got {:?}",
                want.columns, have.columns
            ));
        }
        let rows_differ = want.rows.len() != have.rows.len()
            || want
                .rows
                .iter()
                .zip(&have.rows)
                .any(|(w, h)| !row_matches(w, h));
        if rows_differ {
            differences.push(format!(
                "expected {}, got {}",
                show_rows(&want.rows),
                show_rows(&have.rows)
            ));
        }
    }
}

fn show_any(value: Option<u8>) -> String {
    value.map_or("*".to_owned(), |value| value.to_string())
}

fn row_matches(want: &[String], have: &[String]) -> bool {
    want.len() == have.len() && want.iter().zip(have).all(|(w, h)| w == "*" || w == h)
}

fn show(set: &AnswerSet) -> String {
    show_rows(&set.rows)
}

fn show_rows(rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return "no rows".to_owned();
    }
    rows.iter()
        .map(|row| format!("[{}]", row.join(" | ")))
        .collect::<Vec<_>>()
        .join(" ")
}
