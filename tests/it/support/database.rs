//! A schema of its own for every test, on the server in `DATABASE_URL` or on an embedded one.

use std::sync::OnceLock;

use duroxide_sql::{MssqlProvider, MssqlProviderBuilder, SchemaName};
use mssql_embedded::Server;
use tiberius::{Client, Config, Row};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

use super::mutants::{self, Mutant};

/// The database's READ_COMMITTED_SNAPSHOT setting: Azure's default is on, SQL Server's off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotReads {
    Off,
    On,
}

/// Both settings, for tests that go through them.
pub const BOTH: [SnapshotReads; 2] = [SnapshotReads::Off, SnapshotReads::On];

/// Makes a test of each function that takes a setting, for both of them.
macro_rules! in_both_settings {
    ($($name:ident,)*) => {
        mod snapshot_reads_off {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::support::database::SnapshotReads::Off).await;
            })*
        }
        mod snapshot_reads_on {
            $(#[tokio::test]
            async fn $name() {
                super::$name(crate::support::database::SnapshotReads::On).await;
            })*
        }
    };
}
pub(crate) use in_both_settings;

/// A server whose database has the wanted setting. A server in `DATABASE_URL` is used as it is.
pub fn connection_string(reads: SnapshotReads) -> String {
    static OFF: OnceLock<Server> = OnceLock::new();
    static ON: OnceLock<Server> = OnceLock::new();
    if let Some(url) = external() {
        return url;
    }
    let server = match reads {
        SnapshotReads::Off => OFF.get_or_init(|| start(false)),
        SnapshotReads::On => ON.get_or_init(|| start(true)),
    };
    server.connection_string()
}

/// The server that the environment names.
pub fn external() -> Option<String> {
    std::env::var("DATABASE_URL")
        .ok()
        .filter(|url| !url.is_empty())
}

/// The seed of an adversary that the environment wants for all embedded servers; an odd one comes with
/// optimized locking.
pub fn adversary() -> Option<u64> {
    let text = std::env::var("DUROXIDE_SQL_TEST_ADVERSARY").ok();
    let text = text.filter(|text| !text.is_empty())?;
    Some(text.parse().expect("a seed"))
}

/// A server of the test's own, whose controls disturb nobody else.
pub fn own_server() -> Server {
    own_server_with(SnapshotReads::Off)
}

/// The same with the wanted setting.
pub fn own_server_with(reads: SnapshotReads) -> Server {
    start(reads == SnapshotReads::On)
}

fn start(read_committed_snapshot: bool) -> Server {
    let mut builder = Server::builder().read_committed_snapshot(read_committed_snapshot);
    if let Some(seed) = adversary() {
        builder = builder.adversary(seed).optimized_locking(seed % 2 == 1);
    }
    builder.start().expect("the embedded server starts")
}

/// A schema that exists for one test. Dropping it uninstalls it and checks that nothing is left.
pub struct TestSchema {
    url: String,
    name: SchemaName,
}

impl TestSchema {
    pub fn new() -> Self {
        Self::on(SnapshotReads::Off)
    }

    pub fn on(reads: SnapshotReads) -> Self {
        Self::at(connection_string(reads))
    }

    /// On a server of the test's own.
    pub fn at(url: String) -> Self {
        Self::named(url, &format!("test_{}", uuid::Uuid::new_v4().simple()))
    }

    /// With a name of the test's choice.
    pub fn named(url: String, name: &str) -> Self {
        Self {
            url,
            name: SchemaName::new(name).expect("a legal schema name"),
        }
    }

    pub fn name(&self) -> &SchemaName {
        &self.name
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn builder(&self) -> MssqlProviderBuilder {
        MssqlProvider::builder(&self.url).schema(self.name.as_str())
    }

    pub async fn provider(&self) -> MssqlProvider {
        let provider = self.builder().build().await.expect("the provider starts");
        if let Some(mutant) = mutants::wanted() {
            self.install(&mutant).await;
        }
        provider
    }

    /// Replaces a procedure by one of its mutants.
    async fn install(&self, mutant: &Mutant) {
        let text = mutant.text.replace("[$(schema)]", &self.name.quoted());
        let mut client = connect(&self.url).await;
        let result = match client.simple_query(text).await {
            Ok(stream) => stream.into_results().await.map(drop),
            Err(error) => Err(error),
        };
        result.unwrap_or_else(|error| panic!("{}: {error}", mutants::REFUSED));
    }

    /// Whether the database has this schema.
    pub async fn exists(&self) -> bool {
        exists(&self.url, &self.name).await
    }

    /// Runs T-SQL in which `[$(schema)]` stands for this schema; returns the last result set.
    pub async fn sql(&self, text: &str) -> Vec<Row> {
        let text = text.replace("[$(schema)]", &self.name.quoted());
        let mut client = connect(&self.url).await;
        let stream = client
            .simple_query(text)
            .await
            .expect("the batch is accepted");
        stream
            .into_results()
            .await
            .expect("the batch runs")
            .pop()
            .unwrap_or_default()
    }

    /// The number of the error that a batch ends with.
    pub async fn error(&self, text: &str) -> u32 {
        let text = text.replace("[$(schema)]", &self.name.quoted());
        let mut client = connect(&self.url).await;
        let result = match client.simple_query(text).await {
            Ok(stream) => stream.into_results().await.map(drop),
            Err(error) => Err(error),
        };
        let error = result.expect_err("the batch fails");
        error.code().expect("a number")
    }

    /// The first column of the only row of a query for a whole number.
    pub async fn number(&self, text: &str) -> i64 {
        let rows = self.sql(text).await;
        let row = rows.first().expect("a row");
        match row.cells().next().expect("a column").1 {
            tiberius::ColumnData::I64(value) => value.expect("a value"),
            tiberius::ColumnData::I32(value) => value.expect("a value").into(),
            other => panic!("not a whole number: {other:?}"),
        }
    }
}

impl Drop for TestSchema {
    /// On a thread with a runtime of its own, because a test that panics has none to wait on.
    fn drop(&mut self) {
        let builder = self.builder();
        let (url, name) = (self.url.clone(), self.name.clone());
        let cleaner = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(async {
                builder.uninstall().await.expect("the schema is removed");
                assert!(!exists(&url, &name).await, "schema {name} leaked");
            });
        });
        let result = cleaner.join();
        if !std::thread::panicking() {
            result.expect("the schema is removed without trace");
        }
    }
}

async fn exists(url: &str, name: &SchemaName) -> bool {
    let mut client = connect(url).await;
    let query = format!(
        "SELECT CASE WHEN SCHEMA_ID(N'{}') IS NULL THEN 0 ELSE 1 END AS found;",
        name.literal()
    );
    let stream = client
        .simple_query(query)
        .await
        .expect("the query is accepted");
    let row = stream
        .into_row()
        .await
        .expect("the query runs")
        .expect("a row");
    row.get::<i32, _>("found") == Some(1)
}

/// A plain connection, for what no API of ours does.
pub async fn connect(url: &str) -> Client<Compat<TcpStream>> {
    let config = Config::from_ado_string(url).expect("an ADO.NET connection string");
    let tcp = TcpStream::connect(config.get_addr())
        .await
        .expect("the server accepts");
    tcp.set_nodelay(true).expect("nodelay");
    Client::connect(config, tcp.compat_write())
        .await
        .expect("the login succeeds")
}
