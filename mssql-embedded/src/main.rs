//! The embedded engine as a program: serves TDS clients until it is interrupted.

use std::net::IpAddr;
use std::process::ExitCode;
use std::sync::mpsc;

use mssql_embedded::{Encryption, Server, ServerBuilder};

const HELP: &str = "\
Serves T-SQL over TDS from memory, for tests and trials. It is no production database.

Usage: mssql-embedded --password PASSWORD [options]

Options:
  --password PASSWORD         the password of sa; or set MSSQL_EMBEDDED_PASSWORD
  --port PORT                 the port to listen on, 0 for any free one [1433]
  --host ADDRESS              the address to listen on [127.0.0.1]
  --read-committed-snapshot   readers see row versions instead of waiting for locks
  --optimized-locking         lock rows as Azure SQL does
  --adversary SEED            decide by this seed what SQL Server leaves open
  --session-memory MIB        how much one session may hold before error 701 [512]
  --encryption KIND           off, offered or required [offered]
  --help                      show this text";

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1);
    let password = std::env::var("MSSQL_EMBEDDED_PASSWORD").ok();
    let outcome = match configure(arguments, password) {
        Ok(Some(builder)) => serve(builder),
        Ok(None) => {
            println!("{HELP}");
            Ok(())
        }
        Err(problem) => Err(problem),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("mssql-embedded: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// The server the command line asks for, or `None` when it asks for help.
fn configure(
    mut arguments: impl Iterator<Item = String>,
    mut password: Option<String>,
) -> Result<Option<ServerBuilder>, String> {
    let mut builder = Server::builder().port(1433);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--help" | "-h" => return Ok(None),
            "--password" => password = Some(value()?),
            "--port" => {
                let port = value()?;
                let number = port.parse().map_err(|_| format!("{port} is no port"))?;
                builder = builder.port(number);
            }
            "--host" => {
                let host = value()?;
                let address: IpAddr = host
                    .parse()
                    .map_err(|_| format!("{host} is no IP address"))?;
                builder = builder.host(address);
            }
            "--read-committed-snapshot" => builder = builder.read_committed_snapshot(true),
            "--optimized-locking" => builder = builder.optimized_locking(true),
            "--adversary" => {
                let seed = value()?;
                let number = seed.parse().map_err(|_| format!("{seed} is no seed"))?;
                builder = builder.adversary(number);
            }
            "--session-memory" => {
                let mib = value()?;
                let bytes = mib
                    .parse::<usize>()
                    .ok()
                    .and_then(|m| m.checked_mul(1 << 20));
                let bytes = bytes.ok_or(format!("{mib} is no number of MiB"))?;
                builder = builder.session_memory(bytes);
            }
            "--encryption" => builder = builder.encryption(encryption(&value()?)?),
            other => return Err(format!("unknown argument {other}; try --help")),
        }
    }
    match password {
        Some(password) if !password.is_empty() => Ok(Some(builder.password(password))),
        _ => Err("give a password: --password, or MSSQL_EMBEDDED_PASSWORD".into()),
    }
}

fn encryption(kind: &str) -> Result<Encryption, String> {
    match kind {
        "off" => Ok(Encryption::Off),
        "offered" => Ok(Encryption::Offered),
        "required" => Ok(Encryption::Required),
        other => Err(format!(
            "{other} is no kind of encryption; use off, offered or required"
        )),
    }
}

fn serve(builder: ServerBuilder) -> Result<(), String> {
    let (interrupted, wait) = mpsc::channel();
    ctrlc::set_handler(move || {
        // A second signal while stopping finds nobody waiting, which is fine.
        let _ = interrupted.send(());
    })
    .map_err(|e| format!("could not watch for signals: {e}"))?;
    let mut server = builder.start().map_err(|e| e.to_string())?;
    println!("listening on {}", server.address());
    println!("{}", server.connection_string());
    // An error means that the handler is gone, so that no signal can come any more.
    let _ = wait.recv();
    server.stop();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(arguments: &[&str], password: Option<&str>) -> String {
        let arguments = arguments.iter().map(|a| a.to_string());
        configure(arguments, password.map(String::from)).unwrap_err()
    }

    /// No password, an empty one and wrong arguments are refused with a hint.
    #[test]
    fn bad_command_lines_are_refused() {
        assert!(refused(&[], None).contains("--password"));
        assert!(refused(&["--password", ""], None).contains("--password"));
        assert!(refused(&[], Some("")).contains("MSSQL_EMBEDDED_PASSWORD"));
        assert_eq!(refused(&["--port"], Some("x")), "--port needs a value");
        assert_eq!(refused(&["--port", "x"], Some("x")), "x is no port");
        assert_eq!(refused(&["--adversary", "x"], Some("x")), "x is no seed");
        let memory = refused(&["--session-memory", "x"], Some("x"));
        assert_eq!(memory, "x is no number of MiB");
        assert!(refused(&["--wat"], Some("x")).contains("--help"));
    }

    /// The password may come from the environment; help needs none.
    #[test]
    fn good_command_lines_are_taken() {
        let none = std::iter::empty();
        assert!(configure(none, Some("secret".into())).unwrap().is_some());
        assert!(
            configure(std::iter::once("--help".into()), None)
                .unwrap()
                .is_none()
        );
    }
}
