//! The engine as a program of its own.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::wire::raw::{END, Raw};

/// Nothing here takes this long on a machine that is merely slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program, which does not outlive its test.
struct Program {
    child: Child,
    connection_string: String,
}

impl Program {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mssql-embedded"))
            .args(["--port", "0", "--encryption", "off", "--password", "secret"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // The first line is for people, the second for programs.
        let connection_string = lines.nth(1).unwrap().unwrap();
        Self {
            child,
            connection_string,
        }
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    fn ended(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it never ends");
            std::thread::yield_now();
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has ended already unless the test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// SIGTERM, which service managers send, and SIGINT end the program although requests run that would never end.
#[test]
fn a_signal_ends_the_program_whatever_is_running() {
    let digits = "(VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9))";
    let many: Vec<String> = (0..18).map(|i| format!("{digits} AS d{i}(x)")).collect();
    let endless = [
        format!("SELECT COUNT_BIG(*) FROM {}", many.join(", ")),
        format!(
            "SELECT MAX(s) FROM (SELECT STDEV(d0.x) OVER
                    (ORDER BY d1.x ROWS BETWEEN 40000 PRECEDING AND 60000 FOLLOWING) AS s FROM {}) AS w",
            many[..5].join(", ")
        ),
    ];
    for name in ["TERM", "INT"] {
        let mut program = Program::start();
        let running: Vec<_> = (endless.iter().enumerate())
            .map(|(i, statement)| {
                let mut client = Raw::open_with(&program.connection_string);
                client.start(
                    &format!("CREATE TABLE running{i} (a INT); {statement}"),
                    END,
                );
                client
            })
            .collect();
        let mut observer = Raw::open_with(&program.connection_string);
        let deadline = Instant::now() + PATIENCE;
        let count = "SELECT COUNT(*) FROM sys.tables WHERE name LIKE N'running%'";
        while observer.int(count) != 2 {
            assert!(Instant::now() < deadline, "they never run");
        }
        program.signal(name);
        assert!(program.ended().success(), "{name}");
        drop(running);
    }
}
