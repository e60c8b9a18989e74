//! The procedures spoken to in T-SQL.

use duroxide_sql::SchemaName;
use tiberius::{Client, Row};
use tokio::net::TcpStream;
use tokio_util::compat::Compat;

use super::database::{TestSchema, connect};

/// One connection, and the schema that `[$(schema)]` stands for.
pub struct Session {
    client: Client<Compat<TcpStream>>,
    schema: SchemaName,
}

impl Session {
    pub async fn open(schema: &TestSchema) -> Self {
        Self {
            client: connect(schema.url()).await,
            schema: schema.name().clone(),
        }
    }

    /// Runs a batch; an error is the server's number.
    pub async fn run(&mut self, text: &str) -> Result<Vec<Vec<Row>>, u32> {
        let text = text.replace("[$(schema)]", &self.schema.quoted());
        let stream = self.client.simple_query(text).await.map_err(number)?;
        stream.into_results().await.map_err(number)
    }

    /// Runs a batch on a connection that may be lost; an error is the server's number, if it still said one.
    pub async fn attempt(&mut self, text: &str) -> Result<Vec<Vec<Row>>, Option<u32>> {
        let text = text.replace("[$(schema)]", &self.schema.quoted());
        let answer = match self.client.simple_query(text).await {
            Ok(stream) => stream.into_results().await,
            Err(error) => Err(error),
        };
        answer.map_err(|error| error.code())
    }

    /// How many rows each statement of a batch says it has touched; an error is the server's number.
    pub async fn counts(&mut self, text: &str) -> Result<Vec<u64>, u32> {
        let text = text.replace("[$(schema)]", &self.schema.quoted());
        let done = self.client.execute(text, &[]).await.map_err(number)?;
        Ok(done.rows_affected().to_vec())
    }

    /// Its @@SPID.
    pub async fn spid(&mut self) -> u16 {
        let spid = self.number("SELECT CAST(@@SPID AS INT) AS n;").await;
        u16::try_from(spid).expect("a session's number")
    }

    /// The first column of the only row of the last result set.
    pub async fn number(&mut self, text: &str) -> i64 {
        let sets = self.run(text).await.expect("the query runs");
        let row = sets.last().and_then(|rows| rows.first()).expect("a row");
        match row.cells().next().expect("a column").1 {
            tiberius::ColumnData::I64(value) => value.expect("a value"),
            tiberius::ColumnData::I32(value) => value.expect("a value").into(),
            other => panic!("not a whole number: {other:?}"),
        }
    }
}

fn number(error: tiberius::error::Error) -> u32 {
    let code = error.code();
    code.unwrap_or_else(|| panic!("not an error of the server: {error:?}"))
}
