//! Two calls in two sessions, taken forward one statement at a time in an order of our choice.

use std::time::{Duration, Instant};

use mssql_embedded::{Controls, Pause, Trigger};
use tokio::task::JoinHandle;

use crate::support::database::TestSchema;
use crate::support::session::Session;

/// The rows of every result set, or the server's error number.
pub type Answer = Result<Vec<Vec<tiberius::Row>>, u32>;

/// What one of the two does: time may pass first, then it calls a procedure.
#[derive(Clone, Debug)]
pub struct Call {
    pub jump: Duration,
    pub text: String,
}

/// A session that stops before every statement that concerns a stored table, and before commits.
pub struct Actor {
    session: Option<Session>,
    spid: u16,
    statements: Pause,
    commits: Pause,
    running: Option<JoinHandle<(Session, Answer)>>,
    answer: Option<Answer>,
    started: bool,
    /// How often it was let go.
    pub steps: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Stopped,
    Waiting,
    Done,
}

impl Actor {
    pub async fn new(schema: &TestSchema, controls: &Controls) -> Self {
        let mut session = Session::open(schema).await;
        let spid = session.number("SELECT CAST(@@SPID AS INT) AS n;").await;
        let spid = u16::try_from(spid).expect("a session's number");
        let name = schema.name().quoted();
        let statement = Trigger::statement().by(spid).containing(&name).always();
        Self {
            session: Some(session),
            spid,
            statements: controls.pause(statement),
            commits: controls.pause(Trigger::commit().by(spid).always()),
            running: None,
            answer: None,
            started: false,
            steps: 0,
        }
    }

    fn reset(&mut self) {
        (self.started, self.steps, self.answer) = (false, 0, None);
    }

    /// Goes on by one statement.
    async fn step(&mut self, call: &Call, controls: &Controls) {
        self.steps += 1;
        if !self.started {
            self.started = true;
            controls.advance(call.jump);
            let mut session = self.session.take().expect("an idle session");
            let text = format!("EXEC [$(schema)].{};", call.text);
            self.running = Some(tokio::spawn(async move {
                let answer = session.run(&text).await;
                (session, answer)
            }));
        } else if !self.statements.sessions().is_empty() {
            self.statements.release();
        } else {
            self.commits.release();
        }
    }

    /// Where it stands, once it stands still: before a statement, at a lock, or at the end.
    async fn state(&mut self, controls: &Controls) -> Option<State> {
        if !self.started {
            return Some(State::Stopped);
        }
        if self.answer.is_some() {
            return Some(State::Done);
        }
        if self.running.as_ref().is_some_and(JoinHandle::is_finished) {
            let (session, answer) = self.running.take()?.await.expect("the call does not panic");
            (self.session, self.answer) = (Some(session), Some(answer));
            return Some(State::Done);
        }
        if !self.statements.sessions().is_empty() || !self.commits.sessions().is_empty() {
            return Some(State::Stopped);
        }
        controls.is_blocked(self.spid).then_some(State::Waiting)
    }
}

/// Waits until both stand still.
async fn still(actors: &mut [Actor; 2], controls: &Controls) -> [State; 2] {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let [a, b] = actors;
        if let (Some(a), Some(b)) = (a.state(controls).await, b.state(controls).await) {
            return [a, b];
        }
        assert!(Instant::now() < deadline, "a call neither stops nor ends");
        tokio::time::sleep(Duration::from_micros(100)).await;
    }
}

/// An order: whose turn it is for how many steps; after the last entry each runs to its end.
pub type Order = Vec<(usize, usize)>;

/// Runs both calls in the given order and returns their answers. A call that waits for the other's
/// lock lets the other go on.
pub async fn run(
    actors: &mut [Actor; 2],
    calls: &[Call; 2],
    order: &Order,
    controls: &Controls,
) -> [Answer; 2] {
    actors.iter_mut().for_each(Actor::reset);
    let last = order.last().map_or(0, |(who, _)| *who);
    let rest = [
        (1 - last, usize::MAX),
        (last, usize::MAX),
        (1 - last, usize::MAX),
    ];
    let mut turns = order.iter().copied().chain(rest);
    let mut turn = turns.next();
    let mut states = still(actors, controls).await;
    while states != [State::Done, State::Done] {
        let Some((who, steps)) = turn else {
            panic!("nobody can go on: {states:?}");
        };
        if steps == 0 || states[who] != State::Stopped {
            // At the very end whoever is left runs alone.
            turn = turns.next().or_else(|| {
                let other = (states[1 - who] == State::Stopped).then_some(1 - who);
                other.map(|other| (other, usize::MAX))
            });
            continue;
        }
        actors[who].step(&calls[who], controls).await;
        turn = Some((who, steps - 1));
        states = still(actors, controls).await;
    }
    let [a, b] = actors;
    [
        a.answer.take().expect("an answer"),
        b.answer.take().expect("an answer"),
    ]
}
