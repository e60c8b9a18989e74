//! Prints the whole installation of a schema as one T-SQL script, for a DBA to run; with
//! `--uninstall`, the script that removes it.
//!
//! ```text
//! cargo run --example install_script -- --schema orders > install.sql
//! ```

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use anyhow::{Context, bail};
use duroxide_sql::{DEFAULT_SCHEMA, SchemaName, install_script, uninstall_script};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("install_script: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let mut schema = DEFAULT_SCHEMA.to_owned();
    let mut script: fn(&SchemaName) -> String = install_script;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--schema" => schema = arguments.next().context("--schema needs a name")?,
            "--uninstall" => script = uninstall_script,
            other => bail!("unknown argument {other}; use --schema NAME and --uninstall"),
        }
    }
    let text = script(&SchemaName::new(schema)?);
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader that has seen enough, such as head, is no failure.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
