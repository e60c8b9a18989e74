//! The events that tell how the provider fares with its database, one function each.
//!
//! The targets are part of what users filter by, so they are written out and do not follow the
//! module path.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{metrics, millis};
use crate::error::CallError;

/// Why a connection was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// Nobody needed it for `idle_timeout`.
    Idle,
    /// It reached `max_lifetime`.
    Aged,
    /// The server hung up while nobody used it.
    HungUp,
    /// It did not answer, or has been as silent as one that did not.
    Silent,
    /// It leads to a server that no longer serves the database.
    Moved,
    /// A call on it failed in a way that leaves it unusable.
    Broken,
    /// The caller went away in the middle of a call.
    Abandoned,
    /// The provider, or the wait in the database that it belonged to, ended.
    Released,
}

impl Closed {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Aged => "aged",
            Self::HungUp => "hung_up",
            Self::Silent => "silent",
            Self::Moved => "moved",
            Self::Broken => "broken",
            Self::Abandoned => "abandoned",
            Self::Released => "released",
        }
    }

    /// Something is wrong with the server or the way to it.
    fn is_trouble(self) -> bool {
        matches!(
            self,
            Self::HungUp | Self::Silent | Self::Moved | Self::Broken
        )
    }
}

/// A connection is open, and logged in.
pub(crate) fn connection_opened(connection_id: u64, server: &str, schema: &str, took: Duration) {
    metrics::connection_opened(took);
    tracing::debug!(
        target: "duroxide_sql::pool",
        connection_id,
        server,
        schema,
        duration_ms = millis(took),
        "connection opened"
    );
}

/// An attempt to connect failed. Told aloud when the reason is not that of the attempt before.
pub(crate) fn connection_failed(
    server: &str,
    schema: &str,
    took: Duration,
    error: &CallError,
    is_news: bool,
) {
    metrics::connection_failed(error);
    let (duration_ms, error_number) = (millis(took), error.number());
    if is_news {
        tracing::warn!(
            target: "duroxide_sql::pool",
            server, schema, duration_ms, error_number, %error,
            "connection failed"
        );
    } else {
        tracing::debug!(
            target: "duroxide_sql::pool",
            server, schema, duration_ms, error_number, %error,
            "connection failed"
        );
    }
}

/// An attempt to connect takes long, and goes on.
pub(crate) fn still_connecting(server: &str, schema: &str, waited: Duration) {
    tracing::warn!(
        target: "duroxide_sql::pool",
        server,
        schema,
        waited_ms = millis(waited),
        "still connecting; the server does not answer"
    );
}

/// The first connection after failures.
pub(crate) fn connected_again(server: &str, schema: &str, failures: u64) {
    tracing::info!(
        target: "duroxide_sql::pool",
        server,
        schema,
        failures,
        "connected again"
    );
}

/// A connection was closed.
pub(crate) fn connection_closed(connection_id: u64, schema: &str, age: Duration, reason: Closed) {
    metrics::connection_closed(reason.as_str());
    let (age_ms, trouble) = (millis(age), reason.is_trouble());
    let reason = reason.as_str();
    if trouble {
        tracing::warn!(
            target: "duroxide_sql::pool",
            connection_id, schema, reason, age_ms,
            "connection closed"
        );
    } else {
        tracing::debug!(
            target: "duroxide_sql::pool",
            connection_id, schema, reason, age_ms,
            "connection closed"
        );
    }
}

/// The server may be anybody: its certificate is not checked. Said once per process; the driver says it
/// for every connection.
pub(crate) fn certificate_unchecked(server: &str) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            target: "duroxide_sql::pool",
            server,
            "the server's certificate is not checked, because trustServerCertificate is true"
        );
    }
}

/// A caller waits longer for a connection than it should, and goes on waiting.
pub(crate) fn pool_wait(schema: &str, lane: &str, waited: Duration, open: u32, waiting: u32) {
    tracing::warn!(
        target: "duroxide_sql::pool",
        schema,
        lane,
        waited_ms = millis(waited),
        open,
        waiting,
        "waiting for a connection; raise pool_max or lower the number of dispatchers"
    );
}

/// A call failed for a passing reason and is made again after `wait`.
pub(crate) fn retry(
    procedure: &'static str,
    schema: &str,
    retry: u64,
    wait: Duration,
    error: &CallError,
) {
    metrics::retried(procedure, error);
    tracing::warn!(
        target: "duroxide_sql::call",
        procedure,
        schema,
        retry,
        wait_ms = millis(wait),
        error_number = error.number(),
        %error,
        "repeating a failed call"
    );
}

/// A call took longer than it should.
pub(crate) fn slow_call(
    procedure: &'static str,
    schema: &str,
    took: Duration,
    rows: u64,
    retries: u64,
) {
    metrics::slow_call(procedure);
    tracing::warn!(
        target: "duroxide_sql::call",
        procedure,
        schema,
        duration_ms = millis(took),
        rows,
        retries,
        "slow call"
    );
}

/// The database says that somebody else has, or may have, what this provider worked on.
pub(crate) fn lease_lost(
    procedure: &'static str,
    schema: &str,
    instance_id: Option<&str>,
    lock_token: &str,
    error_number: u32,
) {
    metrics::lease_lost(procedure);
    tracing::warn!(
        target: "duroxide_sql::lease",
        procedure,
        schema,
        instance_id,
        lock_token,
        error_number,
        "lease lost; its work was cancelled or is fetched again"
    );
}

/// The token source gave a token.
pub(crate) fn token_refreshed(took: Duration, lasts: Duration) {
    metrics::token_refreshed();
    tracing::info!(
        target: "duroxide_sql::auth",
        duration_ms = millis(took),
        expires_in_s = lasts.as_secs(),
        "access token refreshed"
    );
}

/// The token source gave none.
pub(crate) fn token_failed(took: Duration, error: &dyn std::fmt::Display) {
    metrics::token_failed();
    tracing::warn!(
        target: "duroxide_sql::auth",
        duration_ms = millis(took),
        %error,
        "access token not refreshed"
    );
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(work: impl Fn()) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, work);
        let text = lines.0.lock().unwrap().clone();
        String::from_utf8(text).unwrap()
    }

    /// The driver warns for every connection; we do so once per process.
    #[test]
    fn unchecked_certificate_is_told_once() {
        let log = logged(|| (0..3).for_each(|_| certificate_unchecked("db:1433")));
        assert_eq!(
            log.matches("certificate is not checked").count(),
            1,
            "{log}"
        );
        assert!(log.contains("WARN") && log.contains("db:1433"), "{log}");
    }

    /// Routine is told quietly, trouble aloud; the document knows every reason.
    #[test]
    fn connections_that_end_in_trouble_are_told_aloud() {
        let document = include_str!("../../docs/observability.md");
        for (reason, level) in [
            (Closed::Idle, "DEBUG"),
            (Closed::Aged, "DEBUG"),
            (Closed::Abandoned, "DEBUG"),
            (Closed::Released, "DEBUG"),
            (Closed::HungUp, "WARN"),
            (Closed::Silent, "WARN"),
            (Closed::Moved, "WARN"),
            (Closed::Broken, "WARN"),
        ] {
            let log = logged(|| connection_closed(7, "orders", Duration::ZERO, reason));
            let word = reason.as_str();
            assert!(log.contains(level) && log.contains(word), "{log}");
            assert!(document.contains(&format!("`{word}`")), "{word}");
        }
    }
}
