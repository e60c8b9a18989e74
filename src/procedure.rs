//! Calls a stored procedure: the one place that sends EXEC.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tiberius::{ColumnData, Command};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument as _;
use tracing::field::Empty;
use uuid::Uuid;

pub(crate) use crate::answer::{Record, ResultSets};
use crate::attempt::Attempt;
use crate::callee::{Callee, Callees};
use crate::dial::Connection;
use crate::error::CallError;
use crate::exchange::ask;
use crate::observe::events::{self, Closed};
use crate::observe::{self, Tally, quiet};
use crate::options::Options;
use crate::pool::{Borrowed, Lane, Pool, Wait};
use crate::retry::Retry;
use crate::time::{after, later};

/// A call that is ready to be sent, as often as needed.
#[derive(Clone)]
pub(crate) struct Call<'a> {
    procedure: &'static str,
    lane: Lane,
    retry: Retry,
    parameters: Vec<(&'static str, ColumnData<'a>)>,
}

impl<'a> Call<'a> {
    /// A call that dispatchers wait for.
    pub(crate) fn dispatch(procedure: &'static str, retry: Retry) -> Self {
        Self {
            procedure,
            lane: Lane::Dispatch,
            retry,
            parameters: Vec::with_capacity(8),
        }
    }

    /// A call that settles or extends a lease: an ack, an abandon or a renewal.
    pub(crate) fn settle(procedure: &'static str, retry: Retry) -> Self {
        let lane = if retry.is_renewal() {
            Lane::Renew
        } else {
            Lane::Settle
        };
        Self {
            procedure,
            lane,
            retry,
            parameters: Vec::with_capacity(8),
        }
    }

    /// A call by a client or an administrator.
    pub(crate) fn client(procedure: &'static str, retry: Retry) -> Self {
        Self {
            procedure,
            lane: Lane::Client,
            retry,
            parameters: Vec::with_capacity(4),
        }
    }

    pub(crate) fn text(mut self, name: &'static str, value: impl Into<Cow<'a, str>>) -> Self {
        self.parameters
            .push((name, ColumnData::String(Some(value.into()))));
        self
    }

    pub(crate) fn int(mut self, name: &'static str, value: i64) -> Self {
        self.parameters.push((name, ColumnData::I64(Some(value))));
        self
    }

    pub(crate) fn flag(mut self, name: &'static str, value: bool) -> Self {
        self.parameters.push((name, ColumnData::Bit(Some(value))));
        self
    }

    /// Not sent when there is none: the parameter's default is NULL, and some servers refuse
    /// the untyped NULL that the driver would send.
    pub(crate) fn opt_text(
        self,
        name: &'static str,
        value: Option<impl Into<Cow<'a, str>>>,
    ) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    /// See [`Call::opt_text`].
    pub(crate) fn opt_int(self, name: &'static str, value: Option<i64>) -> Self {
        match value {
            Some(value) => self.int(name, value),
            None => self,
        }
    }

    /// See [`Call::opt_text`].
    pub(crate) fn opt_guid(mut self, name: &'static str, value: Option<Uuid>) -> Self {
        if let Some(value) = value {
            self.parameters.push((name, ColumnData::Guid(Some(value))));
        }
        self
    }

    /// Milliseconds, as every duration is given to the procedures.
    pub(crate) fn millis(self, name: &'static str, value: Duration) -> Self {
        self.int(name, millis(value))
    }

    pub(crate) fn procedure(&self) -> &'static str {
        self.procedure
    }

    /// How long the request may be on its way, over a line that is slow and not dead: nobody can answer what has not arrived. Small
    /// requests need none of it.
    fn sending(&self) -> Duration {
        let bytes = |(_, value): &(&str, ColumnData<'_>)| match value {
            // UTF-16: two bytes for each of our own, where they are ASCII.
            ColumnData::String(Some(text)) => 2 * text.len() as u64,
            _ => 0,
        };
        let bytes: u64 = self.parameters.iter().map(bytes).sum();
        Duration::from_micros(bytes / SLOW_LINE_BYTES_PER_MICROSECOND)
    }

    /// The same call, to be made once more.
    pub(crate) fn repeated(self, retry: Retry) -> Self {
        Self { retry, ..self }
    }

    /// What is sent under a name.
    #[cfg(test)]
    pub(crate) fn parameter(&self, name: &str) -> Option<&ColumnData<'a>> {
        let sent = self.parameters.iter().find(|(sent, _)| *sent == name);
        sent.map(|(_, value)| value)
    }

    /// The request borrows what the call has: a payload is copied by no attempt, be it the first or a later one.
    fn command<'c>(&'c self, callee: &'c Callee) -> Command<'c> {
        let mut command = Command::new(callee.name.as_str());
        for (name, value) in &self.parameters {
            command.bind_param(*name, Parameter(borrowed(value)));
        }
        command
    }
}

/// A line of 8 Mbit/s, as small virtual machines and VPNs have.
const SLOW_LINE_BYTES_PER_MICROSECOND: u64 = 1;

/// Longest duration that is sent: far beyond any calendar, and the procedures can add it to the
/// clock without overflow.
const MILLIS_MAX: u128 = 9_000_000_000_000_000;

/// Whole milliseconds, saturating; a duration above zero never becomes zero.
pub(crate) fn millis(value: Duration) -> i64 {
    let millis = value.as_millis().min(MILLIS_MAX) as i64;
    if millis == 0 && !value.is_zero() {
        1
    } else {
        millis
    }
}

/// The same value without its text; values of other types are small and copied.
fn borrowed<'c>(value: &'c ColumnData<'_>) -> ColumnData<'c> {
    match value {
        ColumnData::String(Some(text)) => ColumnData::String(Some(Cow::Borrowed(text.as_ref()))),
        other => other.clone(),
    }
}

struct Parameter<'a>(ColumnData<'a>);

impl<'a> tiberius::IntoSql<'a> for Parameter<'a> {
    fn into_sql(self) -> ColumnData<'a> {
        self.0
    }
}

/// Asked when the limit of a request is over and the server has not begun to answer, and told how long that
/// took: whether to read on, for as long as any command may take.
pub(crate) type ReadOn<'a> = &'a (dyn Fn(Duration) -> bool + Send + Sync);

/// The database as the rest of the crate sees it: procedures of one schema.
pub(crate) struct Database {
    pub(crate) options: Arc<Options>,
    pub(crate) pool: Pool,
    callees: Callees,
    /// Numbers that have been logged as unexpected.
    doubted: Mutex<BTreeSet<u32>>,
}

impl Database {
    pub(crate) fn new(options: Arc<Options>, pool: Pool) -> Self {
        let callees = Callees::new(options.schema.quoted());
        Self {
            options,
            pool,
            callees,
            doubted: Mutex::default(),
        }
    }

    /// Sends the call, repeating it as its policy allows, and reads the whole answer.
    pub(crate) async fn execute(&self, call: &Call<'_>) -> Result<ResultSets, CallError> {
        self.execute_reading_on(call, &|_| false).await
    }

    /// The same for a call whose answer matters even when it comes after its limit.
    pub(crate) async fn execute_reading_on(
        &self,
        call: &Call<'_>,
        read_on: ReadOn<'_>,
    ) -> Result<ResultSets, CallError> {
        let procedure = call.procedure;
        let callee = self.callees.get(procedure);
        let span = tracing::debug_span!(
            target: "duroxide_sql::call",
            "call",
            procedure,
            lane = call.lane.as_str(),
            rows = Empty,
            retries = Empty,
            duration_ms = Empty,
            error_number = Empty,
        );
        let begun = Instant::now();
        let mut retries = 0;
        let notice = |error: &CallError, wait| {
            retries += 1;
            events::retry(procedure, self.schema_name(), retries, wait, error);
        };
        let result = {
            // Pinned where it is: it is kilobytes, and the span would have it moved twice.
            let work = std::pin::pin!(call.retry.run(
                |attempt| self.execute_once(call, &callee, attempt, read_on),
                notice,
            ));
            work.instrument(span.clone()).await
        };
        let rows = result.as_ref().map_or(0, ResultSets::rows);
        let took = begun.elapsed();
        Tally::add(rows, retries);
        callee.keys.called(took, result.is_ok(), rows);
        if !span.is_disabled() {
            span.record("rows", rows);
            span.record("retries", retries);
            span.record("duration_ms", observe::millis(took));
            if let Err(error) = &result
                && let Some(number) = error.number()
            {
                span.record("error_number", number);
            }
        }
        if took > self.options.slow_call_limit {
            events::slow_call(procedure, self.schema_name(), took, rows, retries);
        }
        result
    }

    fn schema_name(&self) -> &str {
        self.options.schema.as_str()
    }

    /// Asks the server for nothing, over a connection of the pool, and returns how long that took.
    pub(crate) async fn ping(&self, limit: Duration) -> Result<Duration, CallError> {
        let begun = Instant::now();
        let mut borrowed = self.pool.get(Lane::Client, Wait::up_to(limit)).await?;
        let asked_at = Instant::now();
        let connection = borrowed.connection()?;
        connection.in_flight = true;
        let exchange = async {
            let stream = connection.client.simple_query("SELECT 1 AS one;").await?;
            stream.into_results().await
        };
        match timeout_at(later(begun, limit), quiet(exchange)).await {
            Err(_) => Err(borrowed.silent(asked_at)),
            Ok(Ok(_)) => {
                connection.in_flight = false;
                borrowed.heard();
                Ok(asked_at.elapsed())
            }
            Ok(Err(error)) => Err(self.failed(&mut borrowed, error, asked_at)),
        }
    }

    /// What a failed request means for its connection.
    fn failed(
        &self,
        borrowed: &mut Borrowed,
        error: tiberius::error::Error,
        asked_at: Instant,
    ) -> CallError {
        let error = CallError::from_driver(error, true);
        if let Ok(connection) = borrowed.connection() {
            connection.in_flight = !error.leaves_connection_usable();
        }
        if error.leaves_connection_usable() {
            borrowed.heard();
        }
        borrowed.condemn(Closed::Broken);
        if error.says_moved() {
            borrowed.moved(asked_at);
        }
        error
    }

    async fn execute_once(
        &self,
        call: &Call<'_>,
        callee: &Callee,
        attempt: Attempt,
        read_on: ReadOn<'_>,
    ) -> Result<ResultSets, CallError> {
        let result = self.exchange(call, callee, attempt, read_on).await;
        match call.lane {
            Lane::Dispatch | Lane::Client => result,
            Lane::Settle | Lane::Renew => result.map_err(|error| {
                let error = error.of_settling();
                self.note_doubt(call.procedure, &error);
                error
            }),
        }
    }

    /// One request and its answer, within the limits of the attempt.
    async fn exchange(
        &self,
        call: &Call<'_>,
        callee: &Callee,
        attempt: Attempt,
        read_on: ReadOn<'_>,
    ) -> Result<ResultSets, CallError> {
        let full = self.options.command_timeout;
        let begun = Instant::now();
        let mut borrowed = match attempt.alive_within {
            None => self.pool.get(call.lane, attempt.wait(full)).await,
            Some(limit) => {
                let pool = &self.pool;
                pool.get_alive(call.lane, limit, attempt.after_silence)
                    .await
            }
        }?;
        let asked_at = Instant::now();
        let first_by = attempt.first_by(begun, borrowed.turn_at, asked_at, full);
        let first_by = later(first_by, call.sending()).min(later(asked_at, full));
        let ends_at = match call.lane {
            Lane::Settle | Lane::Renew => first_by,
            Lane::Dispatch | Lane::Client => later(asked_at, full),
        };
        let connection = borrowed.connection()?;
        connection.in_flight = true;
        let command = call.command(callee);
        let read_on = || {
            // Whoever asks next must not meet with the same silence.
            self.pool.distrust_silent(asked_at);
            read_on(asked_at.elapsed())
        };
        let client = &mut connection.client;
        match ask(command, client, first_by, ends_at, read_on).await {
            None => Err(borrowed.silent(asked_at)),
            Some(Ok(answer)) => {
                connection.in_flight = false;
                borrowed.heard();
                Ok(answer.to(call.procedure, asked_at))
            }
            Some(Err(error)) => Err(self.failed(&mut borrowed, error, asked_at)),
        }
    }

    /// One request and its answer, within `limit`, on a connection of the caller's own. When it is
    /// dropped half-way, or fails in a way that leaves more to come, the connection is in flight.
    pub(crate) async fn ask_on(
        &self,
        connection: &mut Connection,
        call: &Call<'_>,
        limit: Duration,
    ) -> Result<ResultSets, CallError> {
        connection.in_flight = true;
        let callee = self.callees.get(call.procedure);
        let command = call.command(&callee);
        let (asked_at, ends_at) = (Instant::now(), after(limit));
        let client = &mut connection.client;
        match ask(command, client, ends_at, ends_at, || false).await {
            None => Err(CallError::Timeout { after: limit }),
            Some(Ok(answer)) => {
                connection.in_flight = false;
                Ok(answer.to(call.procedure, asked_at))
            }
            Some(Err(error)) => Err(CallError::from_driver(error, true)),
        }
    }

    /// Logs a number that nobody expected from an ack, an abandon or a renewal, once: it is
    /// repeated in the hope that it passes, and somebody should know why.
    fn note_doubt(&self, procedure: &str, error: &CallError) {
        if let Some(number) = error.doubtful_number()
            && self
                .doubted
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(number)
        {
            tracing::warn!(
                procedure,
                number,
                %error,
                "unexpected server error, repeated while the lease lasts"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A payload of megabytes must not be in memory once more for every attempt.
    #[test]
    fn requests_borrow_texts() {
        let call =
            Call::settle("ack_work_item", Retry::harmless()).text("@payload", "x".repeat(10));
        let (_, kept) = &call.parameters[0];
        let ColumnData::String(Some(kept)) = kept else {
            panic!("{kept:?} is no text");
        };
        for _attempt in 0..2 {
            match borrowed(&call.parameters[0].1) {
                ColumnData::String(Some(Cow::Borrowed(sent))) => {
                    assert_eq!(sent.as_ptr(), kept.as_ptr());
                }
                other => panic!("{other:?} is a copy"),
            }
        }
    }

    /// A result of megabytes over a slow line is not silence.
    #[test]
    fn large_requests_have_time_to_be_sent() {
        let call = |bytes| {
            let call = Call::settle("ack_work_item", Retry::harmless()).int("@a", 1);
            call.text("@payload", "x".repeat(bytes)).sending()
        };
        assert_eq!(call(4_000_000), Duration::from_secs(8));
        assert!(call(1000) < Duration::from_millis(3));
    }

    #[test]
    fn durations_saturate_and_never_vanish() {
        assert_eq!(millis(Duration::ZERO), 0);
        assert_eq!(millis(Duration::from_micros(1)), 1);
        assert_eq!(millis(Duration::from_millis(1500)), 1500);
        assert!(millis(Duration::MAX) > 0);
        assert!(
            millis(Duration::MAX)
                .checked_add(millis(Duration::MAX))
                .is_some()
        );
    }
}
