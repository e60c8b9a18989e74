//! The connections: checked, pooled, and shared out between dispatchers and clients.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bb8::{ManageConnection, RunError};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::connect_error::startup_error;
use crate::dial::{Connection, Dialer};
use crate::error::CallError;
use crate::options::Options;
use crate::retry::Retry;

/// Who asks for a connection. Clients that poll may not keep dispatchers waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Acks, abandons and renewals: what a lease depends on.
    Settle,
    /// Fetches and messages: the work itself.
    Dispatch,
    /// Reads by clients and administrators. May use about half of the connections.
    Client,
}

/// The reason of the last failed attempt to connect, for callers that wait in vain.
type LastError = Arc<Mutex<Option<String>>>;

/// Opens and checks connections for the pool.
pub(crate) struct Manager {
    dialer: Dialer,
    last_error: LastError,
}

impl Manager {
    fn remember(&self, error: Option<&CallError>) {
        let mut last = self
            .last_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *last = error.map(ToString::to_string);
    }
}

impl ManageConnection for Manager {
    type Connection = Connection;
    type Error = CallError;

    async fn connect(&self) -> Result<Connection, CallError> {
        let result = self.dialer.dial().await;
        self.remember(result.as_ref().err());
        result
    }

    async fn is_valid(&self, connection: &mut Connection) -> Result<(), CallError> {
        if connection.is_closed() {
            return Err(CallError::Connection {
                reason: "closed by the server while idle".to_owned(),
                sent: false,
            });
        }
        Ok(())
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        connection.in_flight
    }
}

/// A connection on loan, with its place in the lane.
pub(crate) struct Lease<'a> {
    pub(crate) connection: bb8::PooledConnection<'a, Manager>,
    _place: Option<SemaphorePermit<'a>>,
}

/// All connections of a provider.
pub(crate) struct Pool {
    connections: bb8::Pool<Manager>,
    client_places: Semaphore,
    acquire_timeout: Duration,
    last_error: LastError,
}

impl Pool {
    /// Opens the first connection to learn whether the settings work, waiting for a database
    /// that is starting, and then warms the pool.
    pub(crate) async fn open(options: Arc<Options>) -> Result<Self, CallError> {
        let last_error = LastError::default();
        let manager = Manager {
            dialer: Dialer::new(options.clone()),
            last_error: last_error.clone(),
        };
        let first = Retry::repeatable(options.startup_timeout)
            .run(|| async {
                manager
                    .connect()
                    .await
                    .map_err(|e| startup_error(&options, e))
            })
            .await?;
        let connections = bb8::Pool::builder()
            .max_size(options.pool_max)
            .min_idle(Some(options.pool_min_idle))
            .connection_timeout(options.acquire_timeout)
            .idle_timeout(Some(options.idle_timeout))
            .max_lifetime(Some(options.max_lifetime))
            .queue_strategy(bb8::QueueStrategy::Lifo)
            .build(manager)
            .await?;
        // When the pool is already full of warm connections this one is simply closed.
        drop(connections.add(first));
        Ok(Self {
            connections,
            client_places: Semaphore::new(client_places(options.pool_max)),
            acquire_timeout: options.acquire_timeout,
            last_error,
        })
    }

    /// Borrows a connection, waiting for one if all are in use.
    pub(crate) async fn get(&self, lane: Lane) -> Result<Lease<'_>, CallError> {
        let place = match lane {
            Lane::Settle | Lane::Dispatch => None,
            Lane::Client => {
                let place = self.client_places.acquire();
                let place = tokio::time::timeout(self.acquire_timeout, place).await;
                Some(
                    place
                        .map_err(|_| self.timed_out())?
                        .map_err(|_| self.timed_out())?,
                )
            }
        };
        let connection = self.connections.get().await.map_err(|error| match error {
            RunError::User(error) => error,
            RunError::TimedOut => self.timed_out(),
        })?;
        Ok(Lease {
            connection,
            _place: place,
        })
    }

    fn timed_out(&self) -> CallError {
        let last_error = self
            .last_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        CallError::PoolTimeout {
            after: self.acquire_timeout,
            last_error: last_error.clone(),
        }
    }
}

/// Clients get about half of the connections, and always at least one.
fn client_places(pool_max: u32) -> usize {
    (pool_max as usize / 2).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatchers_keep_connections_that_clients_cannot_take() {
        assert_eq!(client_places(1), 1);
        assert_eq!(client_places(2), 1);
        assert_eq!(client_places(10), 5);
        for pool_max in 2..100 {
            assert!(client_places(pool_max) < pool_max as usize);
        }
    }
}
