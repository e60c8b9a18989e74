//! Tables and words for people. Colours only on a terminal.

use std::io::IsTerminal as _;

use duroxide_sql::ViewRow;
use serde_json::Value;

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
pub fn table(titles: &[&str], rows: &[Vec<String>]) {
    let width = |nth: usize| {
        let cells = rows.iter().filter_map(|row| row.get(nth));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        widest.max(titles[nth].len())
    };
    let widths: Vec<_> = (0..titles.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let mut text = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            text.push_str(cell);
            let pad = width.saturating_sub(cell.chars().count()) + 2;
            text.extend(std::iter::repeat_n(' ', pad));
        }
        println!("{}", text.trim_end());
    };
    line(titles.to_vec());
    for row in rows {
        line(row.iter().map(String::as_str).collect());
    }
}

/// Prints a value as JSON.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
