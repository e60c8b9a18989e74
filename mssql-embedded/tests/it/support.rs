//! Servers, connections and waiting for conditions.

use std::future::Future;
use std::time::{Duration, Instant};

use mssql_embedded::{Controls, Encryption, Server};
use tiberius::{Client, Config, Row};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

/// Nothing on a loopback takes this long; a test that waits longer has failed.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// What a request brings.
pub type Answer<T> = Result<T, tiberius::error::Error>;

/// A server whose readers see versions, or wait.
pub fn server(read_committed_snapshot: bool) -> Server {
    Server::builder()
        .encryption(Encryption::Off)
        .read_committed_snapshot(read_committed_snapshot)
        .start()
        .unwrap()
}

/// One client and the number of its session.
pub struct Session {
    client: Client<Compat<TcpStream>>,
    pub spid: u16,
}

impl Session {
    /// Connects as sa.
    pub async fn open(server: &Server) -> Self {
        Self::open_with(&server.connection_string()).await.unwrap()
    }

    /// Connects with a connection string.
    pub async fn open_with(connection_string: &str) -> Answer<Self> {
        let config = Config::from_ado_string(connection_string)?;
        let tcp = TcpStream::connect(config.get_addr()).await?;
        tcp.set_nodelay(true)?;
        let client = Client::connect(config, tcp.compat_write()).await?;
        let mut session = Self { client, spid: 0 };
        session.spid = session.int("SELECT CAST(@@SPID AS INT)").await? as u16;
        Ok(session)
    }

    /// Runs a batch and returns the rows of all its result sets.
    pub async fn rows(&mut self, batch: &str) -> Answer<Vec<Row>> {
        let stream = self.client.simple_query(batch).await?;
        Ok(stream.into_results().await?.into_iter().flatten().collect())
    }

    /// Runs a batch for its effect.
    pub async fn run(&mut self, batch: &str) -> Answer<()> {
        self.rows(batch).await.map(drop)
    }

    /// The first column of all rows.
    pub async fn ints(&mut self, batch: &str) -> Answer<Vec<i32>> {
        let rows = self.rows(batch).await?;
        Ok(rows.iter().map(|row| row.get(0).unwrap()).collect())
    }

    /// The one value of a batch.
    pub async fn int(&mut self, batch: &str) -> Answer<i32> {
        let ints = self.ints(batch).await?;
        assert_eq!(ints.len(), 1, "{batch}");
        Ok(ints[0])
    }

    /// Runs a batch in the background. The session comes back with the answer.
    pub fn spawn(mut self, batch: impl Into<String>) -> JoinHandle<(Self, Answer<Vec<i32>>)> {
        let batch = batch.into();
        tokio::spawn(async move {
            let answer = self.ints(&batch).await;
            (self, answer)
        })
    }
}

/// The server's number of an error.
pub fn number<T: std::fmt::Debug>(answer: Answer<T>) -> u32 {
    let error = answer.expect_err("an error of the server");
    error.code().unwrap_or_else(|| panic!("no number: {error}"))
}

/// Whether the connection broke, as opposed to an error of the server.
pub fn is_broken<T: std::fmt::Debug>(answer: Answer<T>) -> bool {
    answer.expect_err("a broken connection").code().is_none()
}

/// Waits until something holds.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never happened: {what}");
        tokio::task::yield_now().await;
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Waits until a session waits for a lock.
pub async fn blocked(controls: &Controls, spid: u16) {
    until("the session waits for a lock", || controls.is_blocked(spid)).await;
}

/// Waits for something to finish.
pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("finished in time")
}
