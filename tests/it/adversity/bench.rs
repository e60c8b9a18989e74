//! A server of a test's own whose procedures are called one at a time.

use mssql_embedded::{Controls, Question, Server};

use super::dump;
use super::pairs::{HELD, ack, fetch, post};
use super::stepper::Answer;
use crate::support::database::TestSchema;
use crate::support::session::Session;
use crate::support::setting::Setting;

pub struct Bench {
    pub side: Session,
    pub schema: TestSchema,
    pub controls: Controls,
    _server: Server,
}

impl Bench {
    pub async fn new(setting: Setting) -> Self {
        let server = setting.start();
        let schema = TestSchema::at(server.connection_string());
        schema.provider().await;
        Self {
            side: Session::open(&schema).await,
            schema,
            controls: server.controls(),
            _server: server,
        }
    }

    /// Empties the tables and makes the calls, each of which succeeds.
    pub async fn prepare(&mut self, calls: &[String]) {
        dump::empty(&mut self.side).await;
        for call in calls {
            let text = self.named(call).await;
            let done = self.side.run(&format!("EXEC [$(schema)].{text};")).await;
            done.unwrap_or_else(|number| panic!("{number} from {call}"));
        }
    }

    /// A call with the token of the only item that is held in place of `$(work)`.
    pub async fn named(&mut self, call: &str) -> String {
        if !call.contains("$(work)") {
            return call.to_owned();
        }
        let sets = self.side.run(HELD).await.expect("the item is looked up");
        let held: &str = sets[0][0].get("held").expect("an item is held");
        call.replace("$(work)", held)
    }

    /// Whether any statement of a session has left it to the server how much to lock at a time.
    pub fn leaves_grain_open(&self, spid: u16) -> bool {
        let asked = self.controls.asked(Question::LockGrain);
        asked.contains(&u64::from(spid))
    }

    pub async fn tables(&mut self) -> Vec<String> {
        dump::tables(&mut self.side).await
    }
}

/// A call and its answer as text.
pub async fn ask(session: &mut Session, call: &str) -> Vec<String> {
    let answer: Answer = session.run(&format!("EXEC [$(schema)].{call};")).await;
    dump::answer(&answer)
}

/// Calls that run an instance's turn: the start, the fetch, the end.
pub fn turn(instance: &str, token: &str, more: &str) -> Vec<String> {
    vec![
        post(instance, "m"),
        fetch(token),
        ack(token, instance, more),
    ]
}
