//! The binary as people use it: exit codes, one-line errors, clean-up, output files.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use mssql_embedded::{Encryption, Server, SqlError, Trigger};
use sql_stress::model::Report;

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

fn sql_stress(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sql-stress"));
    command.args(arguments).env_remove("DATABASE_URL");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> Output {
    sql_stress(arguments).output().expect("the binary runs")
}

fn words(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Nothing on standard output, one line on standard error, exit code 2.
fn assert_refused(arguments: &[&str], reason: &str) {
    let output = run(arguments);
    let (stdout, stderr) = words(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert_eq!(
        (stdout.as_str(), stderr.lines().count()),
        ("", 1),
        "{stderr}"
    );
    assert!(stderr.contains(reason), "{stderr}");
    assert!(!stderr.contains("hunter2"), "{stderr}");
}

fn server() -> Server {
    let server = Server::builder()
        .encryption(Encryption::Off)
        .password("hunter2");
    server.start().expect("an embedded server")
}

fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    folder.join(format!("{}-{name}", std::process::id()))
}

#[test]
fn mistakes_are_one_line_and_exit_code_2() {
    assert_refused(&["--no-such-option"], "--no-such-option");
    assert_refused(&["--pairs", "two"], "dispatchers:workers");
    assert_refused(&["no-such-scenario"], "no-such-scenario");
    assert_refused(&["compare-baseline"], "--example compare-baseline");
    assert_refused(&["--server"], "DATABASE_URL is not set");
    assert_refused(&["growth"], "--example growth");
    assert_refused(&["--compare", "no/such/file"], "no/such/file");
    // Before the run, not after it.
    assert_refused(
        &["-d", "1h", "--report", "no/such/folder/x.html"],
        "no/such/folder",
    );
    assert_refused(
        &["-d", "1h", "--json", "no/such/folder/x.json"],
        "create it first",
    );
    assert_refused(&["--fail-below", "0.9"], "--compare");
    assert_refused(&["--url", "user id=sa;password=hunter2"], "server");
    assert_refused(
        &[
            "--url",
            "server=tcp:127.0.0.1,1;user id=sa;password=hunter2",
            "--startup-timeout",
            "300ms",
        ],
        "127.0.0.1:1",
    );
    // A connection string in the wrong place.
    let string = "server=tcp:127.0.0.1,1;user id=sa;password=hunter2";
    assert_refused(&[string], "--url");
    assert_refused(&[string, "--pairs", "two"], "--url");
    assert_refused(&["--ulr=sqlserver://sa:hunter2@h"], "unexpected argument");
    let server = server();
    let url = server.connection_string().replace("hunter2", "wrong");
    assert_refused(&["--url", &url], "login");
}

#[test]
fn results_are_printed_written_and_compared() {
    let (json, html) = (file("old.json"), file("page.html"));
    let (json, html) = (json.to_str().unwrap(), html.to_str().unwrap());
    let common = ["--quiet", "--duration", "300ms", "--activity-delay", "1ms"];
    let first = run(&[&common[..], &["--json", json, "--report", html][..]].concat());
    let (stdout, stderr) = words(&first);
    assert_eq!(first.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("round trips per orchestration"), "{stdout}");
    let old: Report = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert!(old.is_success() && old.runs[0].completed > 0);
    assert!(std::fs::read_to_string(html).unwrap().contains("<svg"));

    assert_eq!(old.settings["duration_ms"], 300.0);
    assert_eq!(old.settings["pool_max"], serde_json::Value::Null);
    let server = old.settings["server"].as_str().unwrap();
    assert!(server.starts_with("embedded"), "{server}");

    let second = run(&[&common[..], &["--json", "-", "--compare", json][..]].concat());
    let (stdout, stderr) = words(&second);
    let new: Report = serde_json::from_str(&stdout).expect("only JSON on standard output");
    assert_eq!(new.runs[0].scenario, "fan-out");
    assert!(
        stderr.contains("ratio") && !stderr.contains("WARNING"),
        "{stderr}"
    );
    let comparison = new.comparison.expect("the comparison is in the JSON");
    assert!(comparison.differences.is_empty() && !comparison.lines.is_empty());

    // Unlike runs are compared with a warning, and not judged.
    let unlike = ["--activities", "2", "--report", html, "--compare", json];
    let third = run(&[&common[..], &unlike].concat());
    let (stdout, _) = words(&third);
    assert!(stdout.contains("activities: 5 before, 2 now"), "{stdout}");
    let page = std::fs::read_to_string(html).unwrap();
    assert!(page.contains("not alike") && page.contains("activity_delay_ms"));
    let limit = [
        "--activities",
        "2",
        "--fail-below",
        "0.5",
        "--compare",
        json,
    ];
    assert_refused(
        &[&common[..], &limit].concat(),
        "activities: 5 before, 2 now",
    );

    // Nothing is a hundred times as good as before.
    let limit = ["--fail-below", "100", "--compare", json];
    let fourth = run(&[&common[..], &limit].concat());
    assert_eq!(fourth.status.code(), Some(1));
    assert!(words(&fourth).1.contains("below the limit"));
}

/// Each repetition is kept, and the spread is told.
#[test]
fn repetitions_are_run_and_their_spread_is_told() {
    let output = run(&[
        "-q",
        "-d",
        "200ms",
        "--activity-delay",
        "1ms",
        "--repeat",
        "3",
        "--json",
        "-",
    ]);
    let (stdout, stderr) = words(&output);
    let report: Report = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!((report.runs.len(), report.runs[0].repeats.len()), (1, 3));
    assert!(stderr.contains("3 repetitions, per s"), "{stderr}");
}

#[test]
fn schema_is_dropped_unless_kept_and_never_taken_from_others() {
    let server = server();
    let url = server.connection_string();
    let arguments = ["-q", "-d", "200ms", "--schema", "mine", "--url", &url];
    for _ in 0..2 {
        assert_eq!(run(&arguments).status.code(), Some(0), "the schema is free");
    }
    let kept = run(&[&arguments[..], &["--keep-schema"][..]].concat());
    assert_eq!(kept.status.code(), Some(0));
    assert_refused(&arguments, "schema mine is already in use");
}

/// Orchestrations whose turns cannot be committed are lost, and the run says so.
#[test]
fn lost_orchestrations_are_exit_code_1() {
    let server = server();
    let refuse = Trigger::request().of("ack_orchestration_item").always();
    let rule = server
        .controls()
        .fail(refuse, SqlError::with(51_000, 16, 1, "spoilt by a test"));
    let url = server.connection_string();
    let output = run(&["-q", "-d", "200ms", "--patience", "1s", "--url", &url]);
    let (stdout, stderr) = words(&output);
    assert!(rule.fired() > 0);
    assert_eq!(output.status.code(), Some(1), "{stdout}{stderr}");
    assert!(stdout.contains("x lost"), "{stdout}");
    assert!(
        stdout.contains("ack_orchestration_item: permanent"),
        "{stdout}"
    );
}

/// The first Ctrl-C ends the load; results are printed and the schema is dropped.
#[test]
fn interrupted_run_cleans_up_and_prints_what_it_has() {
    let server = server();
    let url = server.connection_string();
    let arguments = ["-q", "-d", "10m", "--schema", "mine", "--url", &url];
    let child = sql_stress(&arguments).spawn().expect("the binary runs");
    let deadline = Instant::now() + PATIENCE;
    while server.controls().counters().of("ack_work_item").calls < 20 {
        assert!(Instant::now() < deadline, "no work is done");
        std::thread::sleep(Duration::from_millis(10));
    }
    let pid = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &pid]).status();
    assert!(kill.expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    let (stdout, stderr) = words(&output);
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("interrupted"), "{stdout}");
    let again = ["-q", "-d", "200ms", "--schema", "mine", "--url", &url];
    assert_eq!(run(&again).status.code(), Some(0), "the schema is gone");
}
