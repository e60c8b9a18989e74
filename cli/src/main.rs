//! `duroxide-sql`: what a DBA or an operator on call needs, in one binary.

mod age;
mod args;
mod commands;
mod glance;
mod instant;
mod outcome;
mod output;
mod serve;
mod story;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, refusal};
use outcome::Outcome;
use output::ReaderGone;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused(&error),
    };
    match commands::run(&cli).await {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(3),
        Err(error) if error.is::<ReaderGone>() => ExitCode::SUCCESS,
        Err(error) => {
            if cli.json {
                let message = format!("{error:#}");
                eprintln!("{}", serde_json::json!({ "error": message }));
            } else {
                eprintln!("duroxide-sql: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}

/// Help and version are wanted, and everything else is a mistake.
fn refused(error: &clap::Error) -> ExitCode {
    match refusal(error, std::env::args_os().skip(1)) {
        Some(refusal) => eprintln!("{refusal}"),
        // Nobody may be reading.
        None => drop(error.print()),
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}
