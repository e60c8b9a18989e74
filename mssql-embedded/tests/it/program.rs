//! The engine as a program of its own.
#![cfg(unix)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::endless::{cross_join, long_frames, row_locks};
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
    for name in ["TERM", "INT"] {
        let mut program = Program::start();
        let mut observer = Raw::open_with(&program.connection_string);
        observer.batch("CREATE TABLE t (id INT PRIMARY KEY, v INT); INSERT t VALUES (1, 0);");
        let mut computing = Raw::open_with(&program.connection_string);
        let spid = computing.int("SELECT CAST(@@SPID AS INT)");
        computing.start(&format!("BEGIN TRAN; {}", long_frames()), END);
        let mut reading = Raw::open_with(&program.connection_string);
        reading.start(&cross_join(), END);
        let deadline = Instant::now() + PATIENCE;
        while observer.int(&row_locks(spid)) == 0 {
            assert!(Instant::now() < deadline, "it never begins to compute");
        }
        program.signal(name);
        assert!(program.ended().success(), "{name}");
    }
}
