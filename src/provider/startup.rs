//! Brings a provider up: the first connection and the schema, repeated while what is wrong may
//! pass, and over when `startup_timeout` is.

use std::sync::Arc;
use std::time::Duration;

use crate::deadline::Deadline;
use crate::dial::Connection;
use crate::migrate::{self, Task};
use crate::options::Options;
use crate::pool::{Opener, Pool};
use crate::time::jittered;

use super::Error;
use crate::connect_error::ConnectionError;

const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// An attempt failed.
struct Failure {
    error: Error,
    is_passing: bool,
}

/// Connects, does what the task asks for on the first connection, and returns the pool.
pub(super) async fn open(options: &Arc<Options>, task: Task) -> Result<Pool, Error> {
    let limit = options.startup_timeout;
    let deadline = Deadline::after(limit);
    let opener = Opener::new(options.clone());
    let mut last: Option<Error> = None;
    let mut pause = PAUSE_FIRST;
    loop {
        let attempt = attempt(options, &opener, task, deadline);
        let failure = match tokio::time::timeout_at(deadline.at(), attempt).await {
            Ok(Ok(first)) => return Ok(Pool::new(options.clone(), opener, first)),
            Ok(Err(failure)) if !failure.is_passing => return Err(failure.error),
            Ok(Err(failure)) => Some(failure.error),
            Err(_) => None,
        };
        let wait = jittered(pause);
        let is_over = deadline.left() <= wait;
        if let Some(error) = failure {
            let is_news = last.as_ref().map(ToString::to_string) != Some(error.to_string());
            if is_news && !is_over {
                tracing::warn!(%error, "the database is not ready, waiting for up to {limit:?}");
            }
            // An attempt that was cut short says less than the one before.
            if last.is_none() || !deadline.is_over() {
                last = Some(error);
            }
        }
        if is_over {
            return Err(given_up(options, last));
        }
        tokio::time::sleep(wait).await;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

async fn attempt(
    options: &Options,
    opener: &Opener,
    task: Task,
    deadline: Deadline,
) -> Result<Connection, Failure> {
    let limit = options.connect_timeout.min(deadline.left());
    let mut connection = opener.open(limit).await.map_err(|failure| Failure {
        is_passing: failure.is_passing,
        error: Error::Connect(failure.at_start(options)),
    })?;
    let done = migrate::run(options, &mut connection, task, deadline).await;
    done.map_err(|failure| {
        if failure.says_moved {
            opener.distrust(&connection);
        }
        Failure {
            error: Error::Migrate(failure.error),
            is_passing: failure.is_passing,
        }
    })?;
    Ok(connection)
}

fn given_up(options: &Options, last: Option<Error>) -> Error {
    let limit = options.startup_timeout;
    match last {
        Some(Error::Connect(error)) => {
            Error::Connect(error.with(format_args!("; given up after {limit:?}")))
        }
        Some(other) => other,
        None => Error::Connect(ConnectionError::passing(format!(
            "timeout: {} was not ready within {limit:?}",
            options.server()
        ))),
    }
}
