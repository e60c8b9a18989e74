//! A running server: the engine behind a listening socket.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use crate::adversary::AdversaryOptions;
use crate::controls::Controls;
use crate::engine::{Engine, EngineOptions};
use crate::storage::GhostCleanup;
use crate::tds::{Listener, Settings};
use crate::tls::{Encryption, TlsConfigs, local_names};
use crate::value::Collation;

/// The longest password SQL Server takes, in UTF-16 code units.
const PASSWORD_UNITS: usize = 128;

/// How many of the adversary's latest decisions can be asked for.
const DECISIONS_REMEMBERED: usize = 10_000;

/// A server in this process, listening on a socket until it is stopped or dropped.
///
/// Each client has a thread of its own, so the server needs no async runtime and may be kept in a
/// static.
///
/// ```
/// use mssql_embedded::Server;
///
/// let mut server = Server::builder().read_committed_snapshot(true).start()?;
/// println!("{}", server.connection_string());
/// server.stop();
/// # Ok::<(), mssql_embedded::StartError>(())
/// ```
pub struct Server {
    listener: Listener,
    engine: Arc<Engine>,
    password: String,
    encryption: Encryption,
    certificate_der: Vec<u8>,
}

impl Server {
    /// A server with the defaults of [`ServerBuilder`], to be changed before it starts.
    pub fn builder() -> ServerBuilder {
        ServerBuilder::default()
    }

    /// How a client connects as `sa`, in ADO.NET form.
    pub fn connection_string(&self) -> String {
        let encrypt = match self.encryption {
            // What tiberius calls it; a client that may encrypt its login would insist on it.
            Encryption::Off => "DANGER_PLAINTEXT",
            Encryption::Offered => "false",
            Encryption::Required => "true",
        };
        let address = self.listener.address();
        let host = match address.ip() {
            ip if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            ip => ip,
        };
        format!(
            "server=tcp:{host},{};user id=sa;password={};database=master;encrypt={encrypt};\
             trustServerCertificate=true",
            address.port(),
            quoted(&self.password),
        )
    }

    /// Where it listens, with the port that the system chose if none was asked for.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// The port of [`Server::address`].
    pub fn port(&self) -> u16 {
        self.address().port()
    }

    /// The password of `sa`: the one given, or a random one made for this server.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Its certificate, made at the start, for clients that want to trust it.
    pub fn certificate_der(&self) -> &[u8] {
        &self.certificate_der
    }

    /// What all connections share. Whoever keeps it has the databases beyond the end of the server.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// What a test can see and steer.
    pub fn controls(&self) -> Controls {
        Controls::new(&self.engine)
    }

    /// Closes every connection, rolls back what they had open and returns when all is done.
    /// Stopping twice is harmless.
    pub fn stop(&mut self) {
        self.listener.stop();
    }
}

/// How a server shall be, before it starts.
#[derive(Clone, Debug)]
pub struct ServerBuilder {
    host: IpAddr,
    port: u16,
    password: Option<String>,
    encryption: Encryption,
    certificate_names: Vec<String>,
    engine: EngineOptions,
}

impl Default for ServerBuilder {
    /// Loopback, any free port, a random password, encryption as the client asks.
    fn default() -> Self {
        Self {
            host: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            password: None,
            encryption: Encryption::default(),
            certificate_names: local_names(),
            engine: EngineOptions::default(),
        }
    }
}

impl ServerBuilder {
    /// The address to listen on. Leave it at loopback: this is no production database.
    #[must_use]
    pub fn host(mut self, host: IpAddr) -> Self {
        self.host = host;
        self
    }

    /// The port to listen on; 0 takes any free one.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// The password of `sa`, instead of a random one.
    #[must_use]
    pub fn password(mut self, password: impl Into<String>) -> Self {
        self.password = Some(password.into());
        self
    }

    /// Whether readers see the last committed row version instead of waiting for locks
    /// (READ_COMMITTED_SNAPSHOT).
    #[must_use]
    pub fn read_committed_snapshot(mut self, on: bool) -> Self {
        self.engine.read_committed_snapshot = on;
        self
    }

    /// Lets a seed decide what SQL Server's documents leave to the server: access paths, join order, the
    /// order of rows, lock grain, scheduling and more. The same seed and the same order of statements
    /// give the same decisions, which [`Controls::decisions`] tells.
    #[must_use]
    pub fn adversary(mut self, seed: u64) -> Self {
        self.engine.adversary = Some(AdversaryOptions {
            seed,
            remember: DECISIONS_REMEMBERED,
        });
        self
    }

    /// Locks rows as Azure SQL Database and, where it is switched on, SQL Server 2025 do: a transaction's
    /// id stands for the rows it has written, and with snapshot reads a row is looked at before it
    /// is locked.
    #[must_use]
    pub fn optimized_locking(mut self, on: bool) -> Self {
        self.engine.optimized_locking = on;
        self
    }

    /// When deleted entries leave their index. At once without an adversary and in the background with one,
    /// unless this says otherwise; until then scans and seeks pass over them, which the counters tell.
    #[must_use]
    pub fn ghost_cleanup(mut self, cleanup: GhostCleanup) -> Self {
        self.engine.ghost_cleanup = Some(cleanup);
        self
    }

    /// How long a durable commit waits for the log, holding its locks; commits that come meanwhile share
    /// the next flush. Zero at first. Delayed-durable commits do not wait.
    #[must_use]
    pub fn commit_latency(mut self, latency: Duration) -> Self {
        self.engine.commit_latency = latency;
        self
    }

    /// The default collation of the server and its databases.
    #[must_use]
    pub fn collation(mut self, collation: Collation) -> Self {
        self.engine.collation = collation;
        self
    }

    /// How many bytes the variables and running statements of one session may hold; what needs more
    /// fails with 701. Tables do not count.
    #[must_use]
    pub fn session_memory(mut self, bytes: usize) -> Self {
        self.engine.session_memory_bytes = bytes;
        self
    }

    /// What is demanded of clients regarding TLS.
    #[must_use]
    pub fn encryption(mut self, encryption: Encryption) -> Self {
        self.encryption = encryption;
        self
    }

    /// The names that the certificate is valid for, instead of this machine's.
    #[must_use]
    pub fn certificate_names(mut self, names: &[&str]) -> Self {
        self.certificate_names = names.iter().map(ToString::to_string).collect();
        self
    }

    /// Starts the engine and listens.
    ///
    /// # Errors
    ///
    /// When the password cannot be used, the address cannot be bound, or no certificate can be
    /// made.
    pub fn start(self) -> Result<Server, StartError> {
        let password = self.password.unwrap_or_else(random_password);
        let units = password.encode_utf16().count();
        if units == 0 || units > PASSWORD_UNITS {
            return Err(StartError::Password(units));
        }
        let tls =
            TlsConfigs::generate(&self.certificate_names).map_err(|e| StartError::Tls(e.into()))?;
        let options = EngineOptions {
            sa_password: password.clone(),
            ..self.engine
        };
        let engine = Engine::new(&options);
        let address = SocketAddr::new(self.host, self.port);
        let settings = Settings {
            encryption: self.encryption,
            tls,
        };
        let certificate_der = settings.tls.certificate_der.clone();
        let listener = Listener::start(address, Arc::clone(&engine), settings)
            .map_err(|source| StartError::Listen { address, source })?;
        Ok(Server {
            listener,
            engine,
            password,
            encryption: self.encryption,
            certificate_der,
        })
    }
}

/// Why a server did not start. Nothing of it is left running.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The password is empty or too long; its length in UTF-16 code units.
    #[error("the password has {0} characters; use 1 to 128")]
    Password(usize),
    /// Most often another process has the port.
    #[error("could not listen on {address}: {source}")]
    Listen {
        /// Where it should have listened.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// No certificate could be made for the names given.
    #[error(transparent)]
    Tls(Box<dyn std::error::Error + Send + Sync>),
}

/// A password nobody guesses by accident. It guards a loopback port of a test, nothing more.
fn random_password() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("Em-{:016x}{:016x}", random(), random())
}

/// A value of a connection string, quoted when it holds what would end it.
fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.!$%&*+/?@^~#".contains(c);
    if value.chars().all(plain) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiberius::{Client, Config};
    use tokio_util::compat::TokioAsyncWriteCompatExt;

    async fn connects(server: &Server) -> tiberius::Result<()> {
        let config = Config::from_ado_string(&server.connection_string())?;
        let tcp = tokio::net::TcpStream::connect(config.get_addr()).await?;
        Client::connect(config, tcp.compat_write()).await.map(drop)
    }

    /// The connection string leads a client in, whatever the password and the encryption.
    #[tokio::test]
    async fn connection_string_is_all_a_client_needs() {
        for encryption in [Encryption::Off, Encryption::Offered, Encryption::Required] {
            for password in ["simple", "a;b=c \"d\" 'e' {f}", " spaces "] {
                let server = Server::builder().password(password).encryption(encryption);
                let server = server.start().unwrap();
                let text = server.connection_string();
                connects(&server)
                    .await
                    .unwrap_or_else(|e| panic!("{text}: {e}"));
            }
        }
    }

    /// A password that no client could send, and a port that is taken, are told apart.
    #[test]
    fn impossible_servers_do_not_start() {
        let error = |builder: ServerBuilder| builder.start().err().unwrap();
        for password in [String::new(), "x".repeat(129)] {
            let refused = error(Server::builder().password(password));
            assert!(matches!(refused, StartError::Password(_)), "{refused}");
        }
        let first = Server::builder().start().unwrap();
        let second = error(Server::builder().port(first.port()));
        assert!(matches!(second, StartError::Listen { .. }), "{second}");
    }

    /// Two servers have nothing in common, not even their password.
    #[test]
    fn servers_are_independent() {
        let (first, second) = (
            Server::builder().start().unwrap(),
            Server::builder().start(),
        );
        let second = second.unwrap();
        assert_ne!(first.port(), second.port());
        assert_ne!(first.password(), second.password());
    }
}
