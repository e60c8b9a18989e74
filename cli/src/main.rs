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

use args::Cli;
use outcome::Outcome;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    match commands::run(&cli).await {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Found) => ExitCode::from(3),
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
