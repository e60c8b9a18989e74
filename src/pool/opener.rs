//! Opens connections, and tells how that goes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::connect_error::DialError;
use crate::dial::{Connection, Dialer};
use crate::error::CallError;
use crate::observe::{events, notice_after};
use crate::options::{Encrypt, Options};

/// An attempt that takes longer than this is told aloud while it goes on.
const NOTICE: Duration = Duration::from_secs(2);
/// How many TLS handshakes in a row the server may end before somebody has to look at it.
const HANDSHAKES: u32 = 3;
/// And for how long: a server or a load balancer that is starting does so for a while.
const HANDSHAKES_FOR: Duration = Duration::from_secs(5);

/// Opens connections to the server that the options name.
pub(crate) struct Opener {
    options: Arc<Options>,
    dialer: Dialer,
    trouble: Mutex<Trouble>,
}

/// What has gone wrong since the last connection that was opened.
#[derive(Default)]
struct Trouble {
    failures: u64,
    /// The reason of the last failed attempt, for callers that wait in vain.
    last_error: Option<String>,
    /// How many of the last attempts in a row ended in the TLS handshake, and when the first of them did.
    handshakes: u32,
    handshakes_since: Option<Instant>,
}

impl Opener {
    pub(crate) fn new(options: Arc<Options>) -> Self {
        Self {
            dialer: Dialer::new(options.clone()),
            options,
            trouble: Mutex::default(),
        }
    }

    /// Opens a connection and logs in, within the limit.
    pub(crate) async fn open(&self, limit: Duration) -> Result<Connection, DialError> {
        let (server, schema) = (self.options.server(), self.options.schema.as_str());
        if self.options.trust_server_certificate {
            events::certificate_unchecked(&server);
        }
        let begun = Instant::now();
        let notice = || events::still_connecting(&server, schema, NOTICE);
        let mut dialled = notice_after(NOTICE, Box::pin(self.dialer.dial(limit)), notice).await;
        match &mut dialled {
            Ok(connection) => {
                events::connection_opened(connection.id, &server, schema, begun.elapsed());
                let trouble = std::mem::take(&mut *self.trouble());
                if trouble.failures > 0 {
                    events::connected_again(&server, schema, trouble.failures);
                }
            }
            Err(failure) => {
                let error = failure.clone().while_running();
                let is_news = self.note(failure, &error);
                events::connection_failed(&server, schema, begun.elapsed(), &error, is_news);
            }
        }
        dialled
    }

    /// See [`Dialer::distrust`].
    pub(crate) fn distrust(&self, connection: &Connection) {
        self.dialer.distrust(connection);
    }

    /// The reason why no connection could be opened lately.
    pub(crate) fn last_error(&self) -> Option<String> {
        self.trouble().last_error.clone()
    }

    /// Remembers a failure, which may be one too many of its kind; true when it is another one than before.
    fn note(&self, failure: &mut DialError, error: &CallError) -> bool {
        let mut trouble = self.trouble();
        // TLS comes first with encrypt=strict. What only forwards connections to a server that has not begun to listen, as containers'
        // proxies do, accepts and then hangs up, in the middle of a handshake like one who speaks no TLS.
        let may_be_absent = self.options.encrypt == Encrypt::Strict;
        if failure.ended_handshake && !may_be_absent {
            trouble.handshakes += 1;
            let since = *trouble.handshakes_since.get_or_insert_with(Instant::now);
            if trouble.handshakes >= HANDSHAKES && since.elapsed() >= HANDSHAKES_FOR {
                failure.is_passing = false;
            }
        } else {
            trouble.handshakes = 0;
            trouble.handshakes_since = None;
        }
        let reason = Some(error.to_string());
        let is_news = trouble.last_error != reason;
        trouble.failures += 1;
        trouble.last_error = reason;
        is_news
    }

    fn trouble(&self) -> MutexGuard<'_, Trouble> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
