//! The connections: opened, checked, pooled, and shared out between dispatchers and clients.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bb8::{ManageConnection, RunError};
use tiberius::{Client, Config, EncryptionLevel};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

use crate::auth::TokenError;
use crate::connect_error::{ConnectError, startup_error};
use crate::error::{CallError, LOGIN_FAILED};
use crate::options::{Encrypt, Options};
use crate::retry::Retry;

/// Redirects that are followed before giving up. Azure's gateway needs one.
const HOPS_MAX: u32 = 3;
/// A dead peer is noticed by the kernel within about a minute.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Who asks for a connection. Clients that poll may not keep dispatchers waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Fetch, ack, renew, enqueue: the work itself. May use every connection.
    Dispatch,
    /// Reads by clients and administrators. May use about half of the connections.
    Client,
}

/// One connection, and whether a request on it is unfinished.
///
/// The flag is set before a request is sent and cleared when its whole answer was read. A
/// caller that goes away in between leaves it set, and the pool then throws the connection
/// away: the driver can neither cancel the request nor skip its answer.
pub(crate) struct Connection {
    pub(crate) client: Client<Compat<TcpStream>>,
    pub(crate) in_flight: bool,
    /// A second handle on the socket, to see whether the server has hung up.
    socket: std::net::TcpStream,
}

impl Connection {
    /// True when the server has closed this idle connection. Costs no round trip.
    fn is_closed(&self) -> bool {
        match self.socket.peek(&mut [0_u8; 1]) {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

/// The reason of the last failed attempt to connect, for callers that wait in vain.
type LastError = Arc<Mutex<Option<String>>>;

/// Opens connections for the pool.
pub(crate) struct Manager {
    options: Arc<Options>,
    last_error: LastError,
}

impl Manager {
    async fn connect_once(&self) -> Result<Connection, CallError> {
        let mut host = self.options.host.clone();
        let mut port = self.options.port;
        for hop in 0..HOPS_MAX {
            match self.connect_to(&host, port, hop > 0).await {
                Err(ConnectError::Driver(tiberius::error::Error::Routing {
                    host: to,
                    port: at,
                })) => {
                    tracing::debug!(host = %to, port = at, "following the server's redirect");
                    (host, port) = (to, at);
                }
                Err(error) => return Err(error.explain(self.options.encrypt, &host, port)),
                Ok(connection) => return Ok(connection),
            }
        }
        Err(CallError::Connection {
            reason: format!(
                "{} redirects more than {HOPS_MAX} times",
                self.options.server()
            ),
            sent: false,
        })
    }

    async fn connect_to(
        &self,
        host: &str,
        port: u16,
        is_redirected: bool,
    ) -> Result<Connection, ConnectError> {
        let tcp = TcpStream::connect((host, port)).await?;
        tcp.set_nodelay(true)?;
        let keepalive = socket2::TcpKeepalive::new()
            .with_time(KEEPALIVE)
            .with_interval(KEEPALIVE / 3);
        socket2::SockRef::from(&tcp).set_tcp_keepalive(&keepalive)?;
        // Duplicating the handle keeps it non-blocking, as the runtime set it.
        let std_tcp = tcp.into_std()?;
        let socket = std_tcp.try_clone()?;
        let tcp = TcpStream::from_std(std_tcp)?;
        let config = self.config(host, port, is_redirected).await?;
        let client = Client::connect(config, tcp.compat_write()).await?;
        Ok(Connection {
            client,
            in_flight: false,
            socket,
        })
    }

    async fn config(
        &self,
        host: &str,
        port: u16,
        is_redirected: bool,
    ) -> Result<Config, TokenError> {
        let options = &self.options;
        let mut config = Config::new();
        config.host(host);
        config.port(port);
        if let Some(database) = &options.database {
            config.database(database);
        }
        config.authentication(options.identity.method().await?);
        config.application_name(&options.application_name);
        config.encryption(match options.encrypt {
            Encrypt::Required => EncryptionLevel::Required,
            Encrypt::Strict => EncryptionLevel::Strict,
            Encrypt::LoginOnly => EncryptionLevel::Off,
            Encrypt::Plaintext => EncryptionLevel::NotSupported,
        });
        if options.trust_server_certificate {
            config.trust_cert();
        }
        // The redirect came over the verified connection, and the node it names has a
        // certificate of its own, so the gateway's name no longer applies.
        if let (Some(name), false) = (&options.host_name_in_certificate, is_redirected) {
            config.hostname_in_certificate(name);
        }
        if let Some(size) = options.packet_size {
            config.packet_size(size);
        }
        // Both limits are ours: they cover name lookup and sending as well.
        config.handshake_timeout(None);
        config.command_timeout(None);
        Ok(config)
    }

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
        let limit = self.options.connect_timeout;
        let attempt = async {
            match self.connect_once().await {
                Err(error)
                    if error.number() == Some(LOGIN_FAILED)
                        && self.options.identity.renew_after_refusal().await =>
                {
                    self.connect_once().await
                }
                result => result,
            }
        };
        let result = match tokio::time::timeout(limit, attempt).await {
            Ok(result) => result,
            Err(_) => Err(CallError::Connection {
                reason: format!(
                    "timeout: {} did not accept a connection within {limit:?}; check host, port \
                     and firewall",
                    self.options.server()
                ),
                sent: false,
            }),
        };
        self.remember(result.as_ref().err());
        match result {
            // A token may be accepted later; a password will not.
            Err(error)
                if error.number() == Some(LOGIN_FAILED) && self.options.identity.is_token() =>
            {
                Err(CallError::Connection {
                    reason: error.to_string(),
                    sent: false,
                })
            }
            result => result,
        }
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
            options: options.clone(),
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
            Lane::Dispatch => None,
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
