//! One run of some tests in a process of their own: a mutant may panic, hang or never end.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::stages::Stage;
use crate::support::mutants::{MUTANT, Mutant, REFUSED, trap};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Passed,
    /// A test failed: which, and what it said.
    Failed(String, String),
    /// A test did not end in time.
    Hung(String),
    /// The server does not accept the mutant.
    Refused(String),
}

/// What has come out of a process so far.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl Output {
    fn collect(&self, mut from: impl Read + Send + 'static) -> std::thread::JoinHandle<()> {
        let kept = self.0.clone();
        std::thread::spawn(move || {
            let mut part = [0; 4096];
            while let Ok(length @ 1..) = from.read(&mut part) {
                let mut kept = kept.lock().expect("no reader panics");
                kept.extend_from_slice(&part[..length]);
            }
        })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("no reader panics")).into_owned()
    }
}

fn command(stage: &Stage, tests: &[String], mutant: Option<&str>) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the tests' own program"));
    command
        .args(tests)
        .args(["--skip", "mutation::", "--test-threads=1", "--nocapture"])
        .env_remove("DATABASE_URL")
        .env_remove(MUTANT)
        .env_remove("RUST_BACKTRACE")
        .envs(stage.environment())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(mutant) = mutant {
        command.env(MUTANT, mutant);
    }
    command
}

/// The tests of a stage that call a procedure.
pub fn reaching(stage: &Stage, procedure: &str) -> Vec<String> {
    let mut command = command(stage, &stage.names(), Some(&trap(procedure)));
    let output = command.output().expect("the tests run");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let summary = output
        .rsplit_once("\nfailures:\n")
        .map_or("", |(_, rest)| rest);
    let names = summary.lines().take_while(|line| line.starts_with("    "));
    names.map(|name| name.trim().to_owned()).collect()
}

/// Runs tests of a stage against a mutant, or against the procedures as they are, until the first
/// one fails.
pub fn run(stage: &Stage, tests: &[String], mutant: Option<&Mutant>, at_most: Duration) -> End {
    let name = mutant.map(Mutant::to_string);
    let mut command = command(stage, tests, name.as_deref());
    let mut child = command.spawn().expect("the tests start");
    let (out, err) = (Output::default(), Output::default());
    let readers = [
        out.collect(child.stdout.take().expect("it is piped")),
        err.collect(child.stderr.take().expect("it is piped")),
    ];
    let deadline = Instant::now() + at_most;
    let end = loop {
        let ended = child.try_wait().expect("the child is ours");
        let (output, errors) = (out.text(), err.text());
        if has_failed(&output) {
            break failure(&output, &errors);
        }
        if let Some(status) = ended {
            break match status.success() {
                true => End::Passed,
                // Its last words may still be on their way.
                false => End::Failed(last_test(&output), "the process ended".to_owned()),
            };
        }
        if Instant::now() > deadline {
            break End::Hung(last_test(&output));
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    // It may have ended by itself.
    drop(child.kill());
    child.wait().expect("the child is ours");
    for reader in readers {
        reader.join().expect("no reader panics");
    }
    match end {
        End::Failed(test, _) => match failure(&out.text(), &err.text()) {
            End::Failed(_, how) => End::Failed(test, how),
            other => other,
        },
        other => other,
    }
}

fn has_failed(output: &str) -> bool {
    output.lines().any(|line| line.ends_with("FAILED"))
}

fn failure(output: &str, errors: &str) -> End {
    let how = first_panic(errors);
    if how.contains(REFUSED) {
        return End::Refused(how);
    }
    End::Failed(last_test(output), how)
}

/// The name of the test that was started last.
fn last_test(output: &str) -> String {
    let started = output
        .lines()
        .filter_map(|line| line.strip_prefix("test "))
        .filter_map(|line| line.split_once(" ... "))
        .next_back();
    started.map_or(String::new(), |(name, _)| name.to_owned())
}

/// The first lines of what the first panic said.
fn first_panic(errors: &str) -> String {
    let after = errors.split_once("panicked at ");
    let lines = after.map_or("", |(_, rest)| rest).lines().skip(1);
    let said: Vec<&str> = lines
        .take_while(|line| !line.starts_with("note: ") && !line.starts_with("thread '"))
        .take(6)
        .map(str::trim)
        .collect();
    said.join(" ").chars().take(300).collect()
}
