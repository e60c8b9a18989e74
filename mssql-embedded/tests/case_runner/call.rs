//! A batch that travels as a remote procedure call: `EXEC name @a = 1, N'x', @c = NULL OUTPUT`.

use anyhow::{Context, Result, bail};
use tiberius::Command;

/// The procedure and its arguments.
pub struct Call {
    name: String,
    args: Vec<Arg>,
}

struct Arg {
    /// `@name`, or empty for one by position.
    name: String,
    value: Literal,
    output: bool,
}

enum Literal {
    /// NULL, which travels as an NVARCHAR.
    Null,
    Int(i64),
    Text(String),
    Binary(Vec<u8>),
    Float(f64),
}

impl Call {
    /// Reads the text of a batch.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim().trim_end_matches(';').trim();
        let rest = text
            .strip_prefix("EXEC ")
            .context("a batch with a status or outputs is one EXEC")?
            .trim();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (name, args) = rest.split_at(end);
        let args = split(args);
        Ok(Self {
            name: name.to_owned(),
            args: args
                .iter()
                .map(|arg| argument(arg))
                .collect::<Result<_>>()?,
        })
    }

    /// The driver's form of it.
    pub fn command(self) -> Command<'static> {
        let mut command = Command::new(self.name);
        for arg in self.args {
            let Arg {
                name,
                value,
                output,
            } = arg;
            match value {
                Literal::Null => bind(&mut command, name, None::<String>, output),
                Literal::Int(n) => match i32::try_from(n) {
                    Ok(n) => bind(&mut command, name, n, output),
                    Err(_) => bind(&mut command, name, n, output),
                },
                Literal::Text(text) => bind(&mut command, name, text, output),
                Literal::Binary(bytes) => bind(&mut command, name, bytes, output),
                Literal::Float(x) => bind(&mut command, name, x, output),
            }
        }
        command
    }
}

fn bind<T>(command: &mut Command<'static>, name: String, value: T, output: bool)
where
    T: tiberius::IntoSql<'static> + 'static,
{
    if output {
        command.bind_out_param(name, value);
    } else {
        command.bind_param(name, value);
    }
}

/// The arguments, separated by commas outside of quotes.
fn split(text: &str) -> Vec<String> {
    let mut list = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        quoted ^= c == '\'';
        if c == ',' && !quoted {
            list.push(String::new());
        } else if let Some(last) = list.last_mut() {
            last.push(c);
        }
    }
    list.retain(|arg| !arg.trim().is_empty());
    list
}

fn argument(text: &str) -> Result<Arg> {
    let text = text.trim();
    let (text, output) = match text.strip_suffix(" OUTPUT") {
        Some(text) => (text.trim_end(), true),
        None => (text, false),
    };
    let (name, value) = match text.split_once('=') {
        Some((name, value)) if name.starts_with('@') => (name.trim(), value.trim()),
        _ => ("", text),
    };
    Ok(Arg {
        name: name.to_owned(),
        value: literal(value)?,
        output,
    })
}

fn literal(text: &str) -> Result<Literal> {
    if text == "NULL" {
        return Ok(Literal::Null);
    }
    let quoted = text.strip_prefix('N').unwrap_or(text);
    if let Some(inner) = quoted.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
        return Ok(Literal::Text(inner.replace("''", "'")));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        let pairs = digits.as_bytes().chunks(2);
        let bytes = pairs.map(|pair| Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?));
        return Ok(Literal::Binary(bytes.collect::<Result<_>>()?));
    }
    if let Ok(n) = text.parse() {
        return Ok(Literal::Int(n));
    }
    match text.parse() {
        Ok(x) => Ok(Literal::Float(x)),
        Err(_) => bail!("an argument must be a literal: {text}"),
    }
}
