//! The server under test.

use anyhow::{Context, Result};
use mssql_embedded::Server;
use tiberius::{Client, Config};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

/// A connection.
pub type Connection = Client<Compat<TcpStream>>;

/// Where the cases run.
pub struct Target {
    url: String,
    /// Not the embedded server: cases must clean up, and nothing is refused by name.
    pub foreign: bool,
    /// The embedded server, which stops when this is dropped.
    _server: Option<Server>,
}

impl Target {
    /// The server of `MSSQL_CASES_URL`, or an embedded one.
    pub fn from_environment() -> Result<Self> {
        if let Ok(url) = std::env::var("MSSQL_CASES_URL") {
            return Ok(Self {
                url,
                foreign: true,
                _server: None,
            });
        }
        let server = Server::builder().start()?;
        Ok(Self {
            url: server.connection_string(),
            foreign: false,
            _server: Some(server),
        })
    }

    pub async fn connect(&self) -> Result<Connection> {
        let config = Config::from_ado_string(&self.url).context("MSSQL_CASES_URL")?;
        let stream = TcpStream::connect(config.get_addr()).await?;
        stream.set_nodelay(true)?;
        Ok(Client::connect(config, stream.compat_write()).await?)
    }
}
