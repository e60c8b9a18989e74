//! The answer to a request: what the interpreter reports, as tokens on the link.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::link::{Link, Polled};
use super::packet::{Outgoing, PacketKind};
use super::token;
use super::type_out::{put_type, put_value};
use super::version::Version;
use super::write::Put;
use crate::error::SqlError;
use crate::hooks::{KillSwitch, Traffic};
use crate::interrupt::Interrupt;
use crate::session::{Disconnected, Done, DoneKind, EnvChange, ResultSink};
use crate::value::{ColumnMeta, DataType, Value};

/// Tokens are sent once this much has gathered; below it, a response is one write.
const SEND_ABOVE: usize = 64 * 1024;
/// The socket is looked at no more often than this. A request that is over sooner costs no look.
const POLL_EVERY: Duration = Duration::from_millis(5);

/// Collects the tokens of one response after another and sends them.
pub(crate) struct Response {
    pub(crate) link: Link,
    out: Outgoing,
    version: Version,
    stopping: Arc<AtomicBool>,
    /// This connection alone is to end.
    killed: Arc<AtomicBool>,
    /// The types of the current result set as the client was told them.
    columns: Vec<DataType>,
    /// The last DONE, held back until it is known whether more follows.
    held: Option<Done>,
    attention: bool,
    fatal: bool,
    polled: Instant,
    /// The bytes of the request that nobody has asked about yet.
    received: u64,
    /// How much of the response was sent.
    drained: u64,
    /// How much of the response has been told.
    told: u64,
}

impl Response {
    pub(crate) fn new(link: Link, version: Version, stopping: Arc<AtomicBool>) -> Self {
        Self {
            link,
            out: Outgoing::new(),
            version,
            stopping,
            killed: Arc::default(),
            columns: Vec::new(),
            held: None,
            attention: false,
            fatal: false,
            polled: Instant::now(),
            received: 0,
            drained: 0,
            told: 0,
        }
    }

    /// What ends this connection from elsewhere.
    pub(crate) fn kill_switch(&self) -> std::io::Result<KillSwitch> {
        let socket = self.link.socket()?;
        Ok(KillSwitch::new(socket, Arc::clone(&self.killed)))
    }

    /// Whether it has been ended from elsewhere.
    pub(crate) fn is_killed(&self) -> bool {
        self.killed.load(Ordering::Relaxed)
    }

    /// Prepares for the answer to a request of so many bytes.
    pub(crate) fn begin(&mut self, received: usize) {
        self.polled = Instant::now();
        self.received = received as u64;
        self.drained = 0;
        self.told = 0;
    }

    /// Where tokens of the login are appended.
    pub(crate) fn tokens(&mut self) -> &mut Vec<u8> {
        self.release();
        self.out.tokens()
    }

    /// Whether a message of severity 20 or above was reported, which ends the connection after it
    /// was delivered.
    pub(crate) fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// Sends the rest of the response. An attention that arrived meanwhile is acknowledged in it.
    pub(crate) fn finish(&mut self) -> std::io::Result<()> {
        let acknowledge = std::mem::take(&mut self.attention);
        if acknowledge {
            self.release();
            token::put_attention(self.version, self.out.tokens());
        } else {
            let last = self.held.take().unwrap_or(Done {
                kind: DoneKind::Statement,
                rows: None,
                error: false,
                command: 0,
            });
            token::put_done(&last, false, self.version, self.out.tokens());
        }
        self.link.finish(PacketKind::Response, &mut self.out)
    }

    /// Answers a request that could not be read or that is not supported.
    pub(crate) fn refuse(&mut self, error: &SqlError, kind: DoneKind) {
        self.release();
        token::put_message(error, self.version, self.out.tokens());
        self.fatal |= error.severity >= 20;
        self.held = Some(Done {
            kind,
            rows: None,
            error: true,
            command: 0,
        });
    }

    /// Adds a message to a refusal, before its DONE.
    pub(crate) fn refuse_also(&mut self, error: &SqlError) {
        token::put_message(error, self.version, self.out.tokens());
    }

    /// Notes an attention, to be acknowledged when the response ends.
    pub(crate) fn note_attention(&mut self) {
        self.attention = true;
    }

    /// Writes the DONE that was held back: something follows it.
    fn release(&mut self) {
        if let Some(done) = self.held.take() {
            token::put_done(&done, true, self.version, self.out.tokens());
        }
    }

    fn send_if_large(&mut self) -> Result<(), Disconnected> {
        let before = self.out.len();
        if before > SEND_ABOVE {
            self.link
                .drain(PacketKind::Response, &mut self.out)
                .map_err(|_| Disconnected)?;
            self.drained += (before - self.out.len()) as u64;
        }
        Ok(())
    }

    /// Reports a value that does not fit its declared type, and ends the connection: the engine
    /// would be lying about a type it announced.
    fn mismatch(&mut self, at: usize, ty: &DataType, value: &Value) -> Disconnected {
        self.out.tokens().truncate(at);
        let text = format!("internal error: a value {value:?} was given for the type {ty:?}");
        let text: String = text.chars().take(500).collect();
        self.refuse(&SqlError::with(50_000, 21, 1, text), DoneKind::Statement);
        Disconnected
    }

    /// Appends a value as the client's version can take it.
    fn put(&mut self, value: &Value, at: usize, ty: &DataType) -> Result<(), Disconnected> {
        put_value(value, ty, self.version, self.out.tokens())
            .map_err(|_| self.mismatch(at, ty, value))
    }
}

impl ResultSink for Response {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), Disconnected> {
        self.release();
        token::put_columns(columns, self.version, self.out.tokens());
        self.columns.clear();
        self.columns
            .extend(columns.iter().map(|column| column.ty.clone()));
        Ok(())
    }

    fn row(&mut self, values: &[Value]) -> Result<(), Disconnected> {
        let at = self.out.tokens().len();
        self.out.tokens().put_u8(token::ROW);
        let columns = std::mem::take(&mut self.columns);
        debug_assert_eq!(
            values.len(),
            columns.len(),
            "a row has a value for each column"
        );
        let mut outcome = Ok(());
        for (value, ty) in values.iter().zip(&columns) {
            outcome = self.put(value, at, ty);
            if outcome.is_err() {
                break;
            }
        }
        self.columns = columns;
        outcome?;
        self.send_if_large()
    }

    fn done(&mut self, done: Done) -> Result<(), Disconnected> {
        self.release();
        self.held = Some(done);
        self.send_if_large()
    }

    fn message(&mut self, error: &SqlError) -> Result<(), Disconnected> {
        self.release();
        self.fatal |= error.severity >= 20;
        token::put_message(error, self.version, self.out.tokens());
        self.send_if_large()
    }

    fn return_status(&mut self, status: i32) -> Result<(), Disconnected> {
        self.release();
        token::put_return_status(status, self.out.tokens());
        Ok(())
    }

    fn return_value(
        &mut self,
        name: &str,
        ordinal: u16,
        ty: &DataType,
        value: &Value,
    ) -> Result<(), Disconnected> {
        const OUTPUT_PARAMETER: u8 = 1;
        self.release();
        let version = self.version;
        let out = self.out.tokens();
        let at = out.len();
        out.put_u8(token::RETURN_VALUE);
        out.put_u16(ordinal);
        out.put_b_varchar(name);
        out.put_u8(OUTPUT_PARAMETER);
        token::put_user_type(version, out);
        out.put_u16(0);
        put_type(ty, version, false, out);
        self.put(value, at, ty)?;
        self.send_if_large()
    }

    fn env_change(&mut self, change: &EnvChange) -> Result<(), Disconnected> {
        self.release();
        token::put_env_change(change, self.out.tokens());
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Disconnected> {
        self.release();
        self.drained += self.out.len() as u64;
        self.link
            .flush(PacketKind::Response, &mut self.out)
            .map_err(|_| Disconnected)
    }

    fn traffic(&mut self) -> Traffic {
        // The DONE that is held back will be sent as well.
        let held = u64::from(self.held.is_some()) * token::DONE_BYTES;
        let sent = self.drained + self.out.len() as u64 + held;
        let told = std::mem::replace(&mut self.told, sent);
        Traffic {
            received: std::mem::take(&mut self.received),
            sent: sent.saturating_sub(told),
        }
    }

    fn interrupted(&mut self) -> Option<Interrupt> {
        if self.stopping.load(Ordering::Relaxed) || self.is_killed() {
            return Some(Interrupt::Disconnected);
        }
        if self.attention {
            return Some(Interrupt::Attention);
        }
        if self.polled.elapsed() < POLL_EVERY {
            return None;
        }
        self.polled = Instant::now();
        match self.link.poll() {
            Polled::Nothing => None,
            Polled::Attention => {
                self.attention = true;
                Some(Interrupt::Attention)
            }
            Polled::Closed => Some(Interrupt::Disconnected),
        }
    }
}
