//! Opens connections: TCP, TLS, login, and the redirects of a gateway.

use std::sync::Arc;
use std::time::Duration;

use tiberius::{Client, Config, EncryptionLevel};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

use crate::auth::TokenError;
use crate::connect_error::ConnectError;
use crate::error::{CallError, LOGIN_FAILED};
use crate::options::{Encrypt, Options};

/// Redirects that are followed before giving up. Azure's gateway needs one.
const HOPS_MAX: u32 = 3;
/// A dead peer is noticed by the kernel within about a minute.
const KEEPALIVE: Duration = Duration::from_secs(30);

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
    pub(crate) fn is_closed(&self) -> bool {
        match self.socket.peek(&mut [0_u8; 1]) {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

/// Opens connections to the server that the options name.
pub(crate) struct Dialer {
    options: Arc<Options>,
}

impl Dialer {
    pub(crate) fn new(options: Arc<Options>) -> Self {
        Self { options }
    }

    /// Opens a connection and logs in, within the limit for one attempt. A refused token is
    /// replaced once.
    pub(crate) async fn dial(&self) -> Result<Connection, CallError> {
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
}
