//! Opens connections: addresses, TCP, TLS, login, and the redirects of a gateway.

mod race;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tiberius::error::Error as Driver;
use tiberius::{AuthMethod, Client, Config, EncryptionLevel};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

use crate::connect_error::{ConnectError, DialError};
use crate::error::LOGIN_FAILED;
use crate::observe::quiet;
use crate::options::{Encrypt, Options, server_name};
use race::{Origin, Racer};

/// Redirects that are followed before giving up. Azure's gateway needs one.
const HOPS_MAX: u32 = 3;
/// How long a connection is quiet before the kernel asks the peer for a sign of life. A dead one is
/// noticed within about a minute: after this time, and the probes that follow.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// How many probes in a row go unanswered before the connection counts as dead. The system's own
/// number would be three times as many.
const KEEPALIVE_PROBES: u32 = 3;

/// One connection, and whether a request on it is unfinished.
///
/// The flag is set before a request is sent and cleared when its whole answer was read. A
/// caller that goes away in between leaves it set, and the pool then throws the connection
/// away: to cancel the request takes an answer of the server, who may be what the caller gave up on.
/// Only the watcher, whose requests wait on the server on purpose, cancels them and clears the flag.
pub(crate) struct Connection {
    /// Tells the connections of this process apart in what is logged.
    pub(crate) id: u64,
    /// Boxed, because it is larger than all the rest, and a connection is moved a dozen times on its way through the pool.
    pub(crate) client: Box<Client<Compat<TcpStream>>>,
    pub(crate) in_flight: bool,
    /// Where it leads; unknown when the system could not say.
    origin: Option<Origin>,
    /// A second handle on the socket, to see whether the server has hung up.
    socket: std::net::TcpStream,
}

impl Connection {
    /// True when the server has closed this idle connection. Costs no round trip.
    pub(crate) fn is_closed(&self) -> bool {
        has_hung_up(&self.socket)
    }

    /// Asks what costs nothing, to hear whether the server is there.
    pub(crate) async fn probe(&mut self) -> Result<(), Driver> {
        self.in_flight = true;
        let answer = self.client.simple_query("SELECT 1").await?;
        answer.into_results().await?;
        self.in_flight = false;
        Ok(())
    }
}

/// On a connection that owes no answer, whatever can be read is a farewell: TLS ends with a word of its own, before the connection does, and
/// a server that speaks unasked is not understood anyway.
fn has_hung_up(socket: &std::net::TcpStream) -> bool {
    match socket.peek(&mut [0_u8; 1]) {
        Ok(_) => true,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    }
}

/// Opens connections to the server that the options name.
pub(crate) struct Dialer {
    options: Arc<Options>,
    racer: Racer,
}

/// Where an attempt is, for the message when its time is over.
struct Trail {
    /// `host:port`, as messages show it.
    server: String,
    /// Who sent us there, and under which name.
    redirect: Option<String>,
    /// Somebody accepted the connection.
    is_open: bool,
}

impl Trail {
    fn timed_out(&self, limit: Duration) -> DialError {
        let Self { server, .. } = self;
        DialError::passing(if self.is_open {
            format!(
                "timeout: {server} accepted a connection, but did not finish the login within \
                 {limit:?}; check that it is a SQL Server"
            )
        } else {
            format!(
                "timeout: {server} did not accept a connection within {limit:?}; check host, \
                 port and firewall"
            )
        })
    }
}

impl Dialer {
    pub(crate) fn new(options: Arc<Options>) -> Self {
        Self {
            options,
            racer: Racer::default(),
        }
    }

    /// Opens a connection and logs in. The limit does not count the time that a token source
    /// takes. A refused token is replaced once.
    pub(crate) async fn dial(&self, limit: Duration) -> Result<Connection, DialError> {
        let identity = &self.options.identity;
        let mut refused = None;
        loop {
            let proof = identity.proof(refused.as_ref()).await;
            let proof = proof.map_err(|error| DialError::token(error, &self.options))?;
            let mut trail = Trail {
                server: self.options.server(),
                redirect: None,
                is_open: false,
            };
            let attempt = self.follow(&proof.method, &mut trail);
            let result = match tokio::time::timeout(limit, attempt).await {
                Ok(result) => result,
                Err(_) => Err(trail.timed_out(limit)),
            };
            match result {
                Err(failure)
                    if failure.error.number() == Some(LOGIN_FAILED)
                        && refused.is_none()
                        && identity.renew_after_refusal(&proof) =>
                {
                    refused = Some(proof);
                }
                result => {
                    return result.map_err(|failure| match &trail.redirect {
                        Some(redirect) => failure.after(redirect),
                        None => failure,
                    });
                }
            }
        }
    }

    /// The server at the end of this connection has lost the database: connections to come try the other addresses of its name
    /// first.
    pub(crate) fn distrust(&self, connection: &Connection) {
        if let Some(origin) = &connection.origin {
            self.racer.distrust(origin);
        }
    }

    /// Connects, and goes where the server sends us.
    async fn follow(
        &self,
        method: &AuthMethod,
        trail: &mut Trail,
    ) -> Result<Connection, DialError> {
        let encrypt = self.options.encrypt;
        let mut host = self.options.host.clone();
        let mut port = self.options.port;
        for _ in 0..HOPS_MAX {
            match self.connect(&host, port, method, trail).await {
                Ok(connection) => return Ok(connection),
                Err(ConnectError::Driver(Driver::Routing { host: to, port: at })) => {
                    tracing::debug!(host = %to, port = at, "following the server's redirect");
                    trail.redirect = Some(format!(
                        "redirected by {} to {}",
                        trail.server,
                        server_name(&to, at)
                    ));
                    // The port is given, so the instance's name has nothing left to say.
                    host = to.split('\\').next().unwrap_or_default().to_owned();
                    port = at;
                    trail.server = server_name(&host, port);
                    trail.is_open = false;
                }
                Err(error) => return Err(error.explain(encrypt, &trail.server)),
            }
        }
        Err(DialError::passing(format!(
            "{} redirects more than {HOPS_MAX} times",
            self.options.server()
        )))
    }

    async fn connect(
        &self,
        host: &str,
        port: u16,
        method: &AuthMethod,
        trail: &mut Trail,
    ) -> Result<Connection, ConnectError> {
        let config = self.config(host, port, method, trail.redirect.is_some())?;
        let (tcp, trial) = {
            let lookup = self.options.lookup.as_ref();
            self.racer.connect(host, port, lookup).await?
        };
        trail.is_open = true;
        tcp.set_nodelay(true)?;
        let keepalive = socket2::TcpKeepalive::new()
            .with_time(KEEPALIVE)
            .with_interval(KEEPALIVE / KEEPALIVE_PROBES)
            .with_retries(KEEPALIVE_PROBES);
        // A system that does not know one of these has connections all the same.
        if let Err(error) = socket2::SockRef::from(&tcp).set_tcp_keepalive(&keepalive) {
            tracing::debug!(%error, "keepalive probes cannot be set");
        }
        // Duplicating the handle keeps it non-blocking, as the runtime set it.
        let std_tcp = tcp.into_std()?;
        let socket = std_tcp.try_clone()?;
        let tcp = TcpStream::from_std(std_tcp)?;
        let client = match quiet(Client::connect(config, tcp.compat_write())).await {
            Ok(client) => client,
            Err(error) => {
                if matches!(error, Driver::Routing { .. }) {
                    trial.succeeded();
                }
                return Err(error.into());
            }
        };
        let origin = trial.succeeded();
        static LAST_ID: AtomicU64 = AtomicU64::new(0);
        Ok(Connection {
            id: LAST_ID.fetch_add(1, Ordering::Relaxed) + 1,
            client: Box::new(client),
            in_flight: false,
            origin,
            socket,
        })
    }

    fn config(
        &self,
        host: &str,
        port: u16,
        method: &AuthMethod,
        is_redirected: bool,
    ) -> Result<Config, ConnectError> {
        let options = &self.options;
        let mut config = Config::new();
        config.host(host);
        config.port(port);
        if let Some(database) = &options.database {
            config.database(database);
        }
        config.authentication(method.clone());
        config.application_name(&options.application_name);
        if let Some(name) = &options.workstation_id {
            config.client_name(name);
        }
        config.encryption(match options.encrypt {
            Encrypt::Required => EncryptionLevel::Required,
            Encrypt::Strict => EncryptionLevel::Strict,
            Encrypt::LoginOnly => EncryptionLevel::Off,
            Encrypt::Plaintext => EncryptionLevel::NotSupported,
        });
        if options.trust_server_certificate {
            config.trust_cert();
        }
        // Read for every connection, so that a renewed authority needs no restart.
        if let Some(file) = &options.trust_ca_file {
            let authority = std::fs::read(file);
            config.trust_cert_ca_bundle(
                authority.map_err(|error| ConnectError::Authority(file.clone(), error))?,
            );
        }
        // The redirect came over the verified connection, and the node it names has a
        // certificate of its own, so the gateway's name no longer applies.
        if let (Some(name), false) = (&options.host_name_in_certificate, is_redirected) {
            config.hostname_in_certificate(name);
        }
        if let Some(size) = options.packet_size {
            config.packet_size(size);
        }
        // Texts that operators cut with LEFT may end in half of a character, which the server stores without a
        // word. Strictly read, it would end the connection that fetches it, each time, and its instance would
        // wait for ever with no attempt ever counted.
        config.lossy_utf16_decoding(true);
        // Both limits are ours: they cover name lookup and sending as well.
        config.handshake_timeout(None);
        config.command_timeout(None);
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    /// The word that TLS ends with comes before the end itself, and may come long before it.
    #[test]
    fn idle_connection_with_something_to_read_has_been_hung_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        for says_goodbye in [true, false] {
            let client = TcpStream::connect(address).unwrap();
            client.set_nonblocking(true).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            assert!(!has_hung_up(&client));
            if says_goodbye {
                server.write_all(&[0x15]).unwrap();
            } else {
                drop(server);
            }
            let begun = std::time::Instant::now();
            while !has_hung_up(&client) {
                assert!(begun.elapsed() < Duration::from_secs(10));
                std::thread::yield_now();
            }
        }
    }
}
