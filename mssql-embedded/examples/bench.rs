//! Measures the engine through TDS and prints one table: what a keyed SELECT, a keyed UPDATE and a
//! READPAST dequeue cost at 1,000, 100,000 and 1,000,000 rows, how many rows they read, and how many
//! procedure calls per second 1 and 16 connections get.
//!
//! `cargo run --release -p mssql-embedded --example bench` takes about twenty seconds; with an argument
//! it uses that as the largest number of rows.

use std::time::{Duration, Instant};

use mssql_embedded::{Controls, Encryption, Server};
use tiberius::{Client, Command, Config};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

type Connection = Client<Compat<TcpStream>>;

/// Rows per INSERT while a table is filled.
const CHUNK: u32 = 50_000;
/// Calls of each operation in one turn. The sizes take turns, so that a machine that gets slower or
/// faster meanwhile does so for all of them.
const CALLS_PER_TURN: u32 = 400;
const TURNS: u32 = 10;
/// How long throughput is measured for.
const THROUGHPUT_TIME: Duration = Duration::from_secs(3);

/// The operations, each a procedure of one statement that matters.
const OPERATIONS: [(&str, &str); 3] = [
    ("keyed SELECT", "lookup"),
    ("keyed UPDATE", "change"),
    ("READPAST dequeue", "dequeue"),
];

/// One table size.
struct Bench {
    rows: u32,
    connection: Connection,
    /// The schema of its table and procedures.
    schema: String,
    /// Calls so far, which choose the keys.
    calls: u32,
    /// Latencies by operation.
    latencies: [Vec<Duration>; OPERATIONS.len()],
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let most = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 1_000_000,
    };
    let server = Server::builder()
        .encryption(Encryption::Off)
        .read_committed_snapshot(true)
        .start()?;
    let controls = server.controls();
    let mut benches = Vec::new();
    for rows in [1_000, 100_000, 1_000_000] {
        let started = Instant::now();
        benches.push(Bench::prepare(&server, rows.min(most)).await?);
        println!("{rows:>9} rows ready in {:.1?}", started.elapsed());
    }
    for turn in 0..=TURNS {
        for bench in &mut benches {
            bench.turn(turn > 0).await?;
        }
    }
    println!("\nmedian latency through TDS, microseconds\n");
    print_latencies(&mut benches);
    println!("\nrows read per execution, by statement\n");
    for bench in &mut benches {
        bench.print_rows_read(&controls).await?;
    }
    println!("\nprocedure calls per second\n");
    for connections in [1, 16] {
        let rate = throughput(&server, &benches[0].schema, connections).await?;
        println!("{connections:>3} connections {rate:>10.0}");
    }
    Ok(())
}

impl Bench {
    async fn prepare(server: &Server, rows: u32) -> anyhow::Result<Self> {
        let mut connection = connect(server).await?;
        let schema = format!("n{rows}_{}", server.controls().sessions().len());
        for batch in script(&schema) {
            connection.simple_query(batch).await?.into_results().await?;
        }
        for from in (0..rows).step_by(CHUNK as usize) {
            let to = rows.min(from + CHUNK);
            let fill = format!(
                "WITH n AS (SELECT {from} AS i UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {to})
                 INSERT INTO {schema}.items (id, visible_at, payload)
                 SELECT i, i, REPLICATE(N'p', 100) FROM n OPTION (MAXRECURSION 0);"
            );
            connection.simple_query(fill).await?.into_results().await?;
        }
        Ok(Self {
            rows,
            connection,
            schema,
            calls: 0,
            latencies: Default::default(),
        })
    }

    /// A turn of calls of each operation, measured or to warm up.
    async fn turn(&mut self, measured: bool) -> anyhow::Result<()> {
        for (at, (_, procedure)) in OPERATIONS.iter().enumerate() {
            for _ in 0..CALLS_PER_TURN {
                let started = Instant::now();
                self.call(procedure).await?;
                if measured {
                    self.latencies[at].push(started.elapsed());
                }
            }
        }
        Ok(())
    }

    async fn call(&mut self, procedure: &str) -> anyhow::Result<()> {
        self.calls = self.calls.wrapping_add(1);
        let id = spread(self.calls, self.rows);
        call(&mut self.connection, &self.schema, procedure, id).await
    }

    async fn print_rows_read(&mut self, controls: &Controls) -> anyhow::Result<()> {
        controls.watch_statements(true);
        let before = controls.counters();
        for (_, procedure) in OPERATIONS {
            for _ in 0..100 {
                self.call(procedure).await?;
            }
        }
        controls.watch_statements(false);
        let spent = controls.counters().since(&before);
        for ((_, text), counters) in &spent.statements {
            if counters.stats.rows_read == 0 {
                continue;
            }
            let each = counters.stats.rows_read as f64 / counters.executions as f64;
            let locks = counters.stats.locks_taken as f64 / counters.executions as f64;
            let words: Vec<&str> = text.split_whitespace().collect();
            let text: String = words.join(" ").chars().take(60).collect();
            println!(
                "{:>9} rows {each:>6.1} read {locks:>6.1} locks  {text}",
                self.rows
            );
        }
        Ok(())
    }
}

fn print_latencies(benches: &mut [Bench]) {
    print!("{:18}", "");
    for bench in &*benches {
        print!("{:>12}", bench.rows);
    }
    println!("{:>10}", "ratio");
    for (at, (name, _)) in OPERATIONS.iter().enumerate() {
        let medians: Vec<f64> = benches
            .iter_mut()
            .map(|bench| median(&mut bench.latencies[at]).as_secs_f64() * 1e6)
            .collect();
        print!("{name:18}");
        for value in &medians {
            print!("{value:>12.1}");
        }
        println!("{:>10.2}", medians[medians.len() - 1] / medians[0]);
    }
}

fn median(latencies: &mut [Duration]) -> Duration {
    latencies.sort_unstable();
    latencies[latencies.len() / 2]
}

/// Keys all over the table, in an order that no cache likes.
fn spread(n: u32, rows: u32) -> i64 {
    i64::from(n.wrapping_mul(2_654_435_761) % rows)
}

async fn throughput(server: &Server, schema: &str, connections: u32) -> anyhow::Result<f64> {
    let deadline = Instant::now() + THROUGHPUT_TIME;
    let mut workers = Vec::new();
    for worker in 0..connections {
        let mut connection = connect(server).await?;
        let schema = schema.to_owned();
        workers.push(tokio::spawn(async move {
            let mut calls = 0_u32;
            while Instant::now() < deadline {
                let id = spread(calls.wrapping_add(worker << 16), 1_000);
                call(&mut connection, &schema, "lookup", id).await?;
                calls += 1;
            }
            anyhow::Ok(calls)
        }));
    }
    let mut calls = 0;
    for worker in workers {
        calls += worker.await??;
    }
    Ok(f64::from(calls) / THROUGHPUT_TIME.as_secs_f64())
}

async fn call(
    connection: &mut Connection,
    schema: &str,
    procedure: &str,
    id: i64,
) -> anyhow::Result<()> {
    let mut command = Command::new(format!("{schema}.{procedure}"));
    command.bind_param("@id", id);
    command
        .exec(connection)
        .await?
        .into_command_result()
        .await?;
    Ok(())
}

async fn connect(server: &Server) -> anyhow::Result<Connection> {
    let config = Config::from_ado_string(&server.connection_string())?;
    let tcp = TcpStream::connect(config.get_addr()).await?;
    tcp.set_nodelay(true)?;
    Ok(Client::connect(config, tcp.compat_write()).await?)
}

/// A queue of items that are taken in the order of their visibility and put back behind the others,
/// so that the table keeps its size.
fn script(schema: &str) -> Vec<String> {
    vec![
        format!("CREATE SCHEMA {schema}"),
        format!(
            "CREATE TABLE {schema}.items (
                id BIGINT NOT NULL CONSTRAINT pk_items PRIMARY KEY,
                visible_at BIGINT NOT NULL,
                payload NVARCHAR(200) NOT NULL,
                INDEX ix_items_visible_at (visible_at, id));"
        ),
        format!(
            "CREATE PROCEDURE {schema}.lookup @id BIGINT AS
             BEGIN
                 SET NOCOUNT ON;
                 SELECT payload FROM {schema}.items WHERE id = @id;
             END"
        ),
        format!(
            "CREATE PROCEDURE {schema}.change @id BIGINT AS
             BEGIN
                 SET NOCOUNT ON;
                 UPDATE {schema}.items SET payload = N'changed' WHERE id = @id;
             END"
        ),
        format!(
            "CREATE PROCEDURE {schema}.dequeue @id BIGINT AS
             BEGIN
                 SET NOCOUNT, XACT_ABORT ON;
                 DECLARE @taken BIGINT;
                 BEGIN TRAN;
                 SELECT TOP (1) @taken = id
                 FROM {schema}.items WITH (READPAST, UPDLOCK, ROWLOCK)
                 WHERE visible_at < 1000000000
                 ORDER BY visible_at, id;
                 UPDATE {schema}.items SET visible_at = visible_at + 10000000
                 OUTPUT inserted.id, inserted.payload WHERE id = @taken;
                 COMMIT;
             END"
        ),
    ]
}
