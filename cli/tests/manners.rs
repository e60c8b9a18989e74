//! How the tool behaves when its reader goes away, its server takes its time, its schema is not there, or its options mean nothing.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use mssql_embedded::Server;

/// Longer than a person is made to wait for a server that is not there.
const SLOW: Duration = Duration::from_secs(11);

/// The binary with its arguments, and no server.
fn tool(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duroxide-sql"));
    command
        .args(arguments)
        .env_remove("DATABASE_URL")
        .env_remove("DUROXIDE_SQL_SCHEMA")
        .stdin(Stdio::null());
    command
}

/// Its exit code, and what it complained of.
fn ended(command: &mut Command) -> (i32, String) {
    let output = command.output().expect("the tool runs");
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().expect("a code"), complaint)
}

/// A reader that has seen enough, such as `head`, is no failure; nor is it one if it came late.
#[test]
fn reader_that_goes_away_is_no_failure() {
    let server = Server::builder().start().expect("a server");
    let url = server.connection_string();
    assert_eq!(ended(&mut tool(&["install", "--url", &url])).0, 0);
    for arguments in [
        vec!["completions", "bash"],
        vec!["script"],
        vec!["--help"],
        vec!["status", "--url", &url],
        vec!["list", "--url", &url],
        vec!["list", "--json", "--url", &url],
        vec!["doctor", "--url", &url],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let (code, complaint) = ended(tool(&arguments).stdout(writer));
        assert_eq!((code, complaint.as_str()), (0, ""), "{arguments:?}");
    }
}

/// What cannot be written is said, once, and by no stack trace.
#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_a_failure_in_words() {
    for arguments in [["completions", "bash"], ["script", "--json"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let mut command = tool(&arguments);
        command.stdout(full.expect("the device"));
        let (code, complaint) = ended(&mut command);
        assert_eq!(code, 1, "{arguments:?}: {complaint}");
        assert!(complaint.contains("No space left"), "{complaint}");
        assert!(!complaint.contains("panicked"), "{complaint}");
    }
}

/// A server that is not there is reported soon; one that is there may take its time over an installation: many scripts over a slow line, an
/// index on a large table.
#[test]
fn installation_may_take_its_time() {
    let slow = Server::builder().commit_latency(SLOW);
    let server = slow.start().expect("a server");
    let url = server.connection_string();
    let (code, complaint) = ended(&mut tool(&["install", "--url", &url]));
    assert_eq!((code, complaint.as_str()), (0, ""));
}

/// Whoever forgets `--schema` or `install` is told so, and not which of hundred objects is missing.
#[test]
fn schema_that_is_not_there_is_named() {
    let server = Server::builder().start().expect("a server");
    let url = server.connection_string();
    for arguments in [
        vec!["status"],
        vec!["show", "order"],
        vec!["cancel", "order"],
        vec!["delete", "order"],
    ] {
        let (code, complaint) = ended(tool(&arguments).args(["--url", &url]));
        assert_eq!(code, 1, "{arguments:?}: {complaint}");
        let told = "duroxide-sql: schema [duroxide] is not installed; name another with --schema, or install it\n";
        assert_eq!(complaint, told, "{arguments:?}");
    }
    assert_eq!(ended(&mut tool(&["install", "--url", &url])).0, 0);
    let missing = ["cancel", "order", "--url", &url];
    let (code, complaint) = ended(&mut tool(&missing));
    assert_eq!(code, 1);
    assert!(complaint.contains("51007"), "{complaint}");
}

#[test]
fn options_that_mean_nothing_are_refused() {
    for arguments in [
        vec!["list", "--status", "running"],
        vec!["list", "--limit", "0"],
        vec!["list", "--page", "18446744073709551615"],
        vec!["status", "--every", "5s"],
        vec!["status", "--watch", "--every", "0s"],
    ] {
        let (code, complaint) = ended(&mut tool(&arguments));
        assert_eq!(code, 2, "{arguments:?}: {complaint}");
    }
}

/// A watch ends when nobody reads it any more.
#[test]
fn watch_ends_with_its_reader() {
    let server = Server::builder().start().expect("a server");
    let url = server.connection_string();
    assert_eq!(ended(&mut tool(&["install", "--url", &url])).0, 0);
    let watch = ["status", "--watch", "--every", "10ms", "--url", &url];
    let mut child = tool(&watch)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut [0; 6]).expect("a word");
    drop(stdout);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
