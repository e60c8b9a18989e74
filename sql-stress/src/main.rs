//! Load tester for duroxide-sql.

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::ErrorKind;
use sql_stress::cli::Cli;
use sql_stress::connection::may_hold_password;
use sql_stress::execute::execute;
use sql_stress::run::silence_logs;
use sql_stress::serve::serve;

/// Something was lost or failed.
const FAILED: u8 = 1;
/// Nothing could be run.
const UNUSABLE: u8 = 2;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            // Nobody may be reading.
            drop(error.print());
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{}", refusal(&error));
            return ExitCode::from(UNUSABLE);
        }
    };
    silence_logs();
    if cli.serve {
        return match serve(&cli).await {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error:#}");
                ExitCode::from(UNUSABLE)
            }
        };
    }
    match execute(&cli).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(UNUSABLE)
        }
    }
}

/// What is wrong with the command line. The parser quotes it, and a connection string in the wrong place has a password.
fn refusal(error: &clap::Error) -> String {
    let is_secret = |argument: std::ffi::OsString| may_hold_password(&argument.to_string_lossy());
    if std::env::args_os().skip(1).any(is_secret) {
        let kind = error.kind();
        return format!(
            "error: {kind}; no argument is shown, because one may hold a password; a connection \
             string belongs behind --url; --help lists the options"
        );
    }
    one_line(&error.to_string())
}

/// The parser explains itself over several lines; the reason is in the first of them.
fn one_line(message: &str) -> String {
    let reason: Vec<_> = message
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    format!("{}; --help lists the options", reason.join("; "))
}
