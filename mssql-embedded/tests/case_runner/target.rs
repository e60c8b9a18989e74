//! The server under test.

use anyhow::{Context, Result};
use mssql_embedded::{Server, ServerBuilder};
use tiberius::{AuthMethod, Client, Config};
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
        Self::embedded(Server::builder())
    }

    /// An embedded server of the given kind.
    pub fn embedded(builder: ServerBuilder) -> Result<Self> {
        let server = builder.start()?;
        Ok(Self {
            url: server.connection_string(),
            foreign: false,
            _server: Some(server),
        })
    }

    /// Opens a connection to the named database (the URL's when `None`), as the given user with the
    /// given password (the URL's when `None`).
    pub async fn connect(
        &self,
        database: Option<&str>,
        login: Option<&(String, String)>,
    ) -> Result<Connection> {
        let mut config = Config::from_ado_string(&self.url).context("MSSQL_CASES_URL")?;
        if let Some(database) = database {
            config.database(database);
        }
        if let Some((user, password)) = login {
            config.authentication(AuthMethod::sql_server(user, password));
        }
        let stream = TcpStream::connect(config.get_addr()).await?;
        stream.set_nodelay(true)?;
        Ok(Client::connect(config, stream.compat_write()).await?)
    }

    /// The database with that setting of READ_COMMITTED_SNAPSHOT, created at its first use; `None` for
    /// the URL's own.
    pub async fn database_with(&self, snapshot: Option<bool>) -> Result<Option<String>> {
        let Some(on) = snapshot else {
            return Ok(None);
        };
        let setting = if on { "ON" } else { "OFF" };
        let name = format!("mssql_cases_snapshot_{}", setting.to_lowercase());
        let mut connection = self.connect(None, None).await?;
        for statement in [
            format!("IF DB_ID(N'{name}') IS NULL CREATE DATABASE [{name}]"),
            format!("ALTER DATABASE [{name}] SET READ_COMMITTED_SNAPSHOT {setting}"),
        ] {
            let stream = connection.simple_query(statement).await?;
            stream.into_results().await?;
        }
        Ok(Some(name))
    }
}
