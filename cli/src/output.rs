//! All that goes to standard output: lines, tables and JSON. Colours only on a terminal.

use std::fmt;
use std::io::{ErrorKind, IsTerminal as _, Write as _};

use duroxide_sql::ViewRow;
use serde_json::Value;

/// Whoever read the output has seen enough, as `head` does.
#[derive(Debug)]
pub struct ReaderGone;

impl fmt::Display for ReaderGone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads what is written")
    }
}

impl std::error::Error for ReaderGone {}

/// Writes a text as it is.
///
/// # Errors
///
/// [`ReaderGone`], or why it cannot be written.
pub fn text(text: &str) -> anyhow::Result<()> {
    let mut to = std::io::stdout().lock();
    // Flushed, because what fails later fails unseen.
    match to.write_all(text.as_bytes()).and_then(|()| to.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(ReaderGone.into()),
        written => Ok(written?),
    }
}

/// Writes one line.
pub fn line(words: impl fmt::Display) -> anyhow::Result<()> {
    text(&format!("{words}\n"))
}

/// A meaning that has a colour.
#[derive(Debug, Clone, Copy)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Worth a look.
    Doubtful,
    /// Must be mended.
    Bad,
}

/// The text in the colour of its meaning, when a person looks at a terminal.
pub fn coloured(tone: Tone, text: &str) -> String {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    if is_plain || !std::io::stdout().is_terminal() {
        return text.to_owned();
    }
    let code = match tone {
        Tone::Good => 32,
        Tone::Doubtful => 33,
        Tone::Bad => 31,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// The value of a column as a person reads it; nothing for NULL.
pub fn cell(row: &ViewRow, column: &str) -> String {
    match row.get(column) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A whole number of a row; zero for NULL.
pub fn number(row: &ViewRow, column: &str) -> i64 {
    row.get(column).and_then(Value::as_i64).unwrap_or(0)
}

/// Columns side by side under their titles, as wide as they must be.
pub fn table(titles: &[&str], rows: &[Vec<String>]) -> anyhow::Result<()> {
    let width = |nth: usize| {
        let cells = rows.iter().filter_map(|row| row.get(nth));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        widest.max(titles[nth].len())
    };
    let widths: Vec<_> = (0..titles.len()).map(width).collect();
    let aligned = |cells: Vec<&str>| {
        let mut text = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            text.push_str(cell);
            let pad = width.saturating_sub(cell.chars().count()) + 2;
            text.extend(std::iter::repeat_n(' ', pad));
        }
        line(text.trim_end())
    };
    aligned(titles.to_vec())?;
    for row in rows {
        aligned(row.iter().map(String::as_str).collect())?;
    }
    Ok(())
}

/// Prints a value as JSON.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    line(serde_json::to_string_pretty(value)?)
}
