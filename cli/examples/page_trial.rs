//! A schema with something in it, to look at with `duroxide-sql serve`.
//!
//! ```text
//! cargo run -p duroxide-sql-cli --example page_trial -- --instances 10000
//! ```
//!
//! An embedded server in this process has finished orders, one that failed, one that waits for an
//! approval, and one that packs until you press Enter. It prints the connection string for the page,
//! and ends with the end of its input.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime};
use duroxide::{
    ActivityContext, BackoffStrategy, Client, Either2, OrchestrationContext, RetryPolicy,
};
use duroxide_sql::MssqlProvider;
use mssql_embedded::Server;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::sync::watch;

const HELP: &str = "\
Serves a schema with orders in it from an embedded server, to be looked at with `duroxide-sql serve`.

  --instances N   finished orders to begin with [default: 200]
  --help          this text";

/// An id that a careless page would take for markup.
const NASTY: &str = "<b>bold</b> & \"quoted\" 100%/#1?";
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("page_trial: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let mut instances = 200_u32;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--instances" => {
                let number = arguments.next().context("--instances needs a number")?;
                instances = number.parse().context("--instances needs a number")?;
            }
            "--help" => {
                println!("{HELP}");
                return Ok(());
            }
            other => bail!("unknown argument {other}; use --instances N"),
        }
    }
    tracing_is_silent()?;
    let server = Server::builder().start()?;
    let store = Arc::new(MssqlProvider::new(server.connection_string()).await?);
    fill(&server, instances)?;

    let (packed, packing) = watch::channel(false);
    let runtime =
        Runtime::start_with_store(store.clone(), activities(packing), orchestrations()).await;
    let client = Client::new(store.clone());
    for (id, orchestration, input) in [
        ("order-packing", "Order", "2 teapots"),
        ("order-approval", "Approval", "1 kettle"),
        (
            "order-failed",
            "Refused",
            "<img src=x onerror=\"document.title='broken'\">",
        ),
        (NASTY, "Approval", "1 cup"),
    ] {
        client.start_orchestration(id, orchestration, input).await?;
    }
    until(&client, "order-packing", "packing").await?;
    until(&client, "order-approval", "waiting for approval").await?;
    let failed = client.wait_for_orchestration("order-failed", PATIENCE);
    failed.await?;
    println!("DATABASE_URL={}", server.connection_string());
    println!("ready; Enter lets order-packing go on, the end of input ends everything");

    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while lines.next_line().await?.is_some() {
        packed.send_replace(true);
    }
    runtime.shutdown(None).await;
    store.close().await;
    Ok(())
}

/// The runtime logs the failures that belong to the trial.
fn tracing_is_silent() -> anyhow::Result<()> {
    let silent = tracing::subscriber::NoSubscriber::default();
    Ok(tracing::subscriber::set_global_default(silent)?)
}

async fn until(client: &Client, id: &str, wanted: &str) -> anyhow::Result<()> {
    let mut version = 0;
    loop {
        let poll = Duration::from_millis(20);
        let change = client.wait_for_status_change(id, version, poll, PATIENCE);
        match change.await? {
            OrchestrationStatus::Running {
                custom_status,
                custom_status_version,
            } if custom_status.as_deref() != Some(wanted) => version = custom_status_version,
            OrchestrationStatus::Running { .. } => return Ok(()),
            other => bail!("{id} ended as {other:?}"),
        }
    }
}

/// Finished orders of the last hours, written as rows: running ten thousand would take a while.
fn fill(server: &Server, instances: u32) -> anyhow::Result<()> {
    let text = format!(
        "DECLARE @now BIGINT = DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME());
         WITH digit AS (SELECT v.d FROM (VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)) AS v (d)),
         n AS (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS nth
               FROM digit AS a CROSS JOIN digit AS b CROSS JOIN digit AS c CROSS JOIN digit AS e CROSS JOIN digit AS f)
         INSERT INTO duroxide.instances (instance_id, orchestration_name, orchestration_version, current_execution_id,
                                         status, custom_status_version, created_at_ms, updated_at_ms)
         SELECT CONCAT(N'order-', 1000000 + n.nth), N'Order', N'1.0.0', 1,
                CASE WHEN n.nth % 97 = 3 THEN N'Failed' ELSE N'Completed' END, 0,
                @now - 1000 * (n.nth + 5), @now - 1000 * n.nth
         FROM   n WHERE n.nth < {instances};
         INSERT INTO duroxide.executions (instance_id, execution_id, status, event_count, started_at_ms, completed_at_ms)
         SELECT i.instance_id, 1, i.status, 0, i.created_at_ms, i.updated_at_ms FROM duroxide.instances AS i;"
    );
    server.controls().execute("master", &text)?;
    Ok(())
}

fn activities(packing: watch::Receiver<bool>) -> ActivityRegistry {
    let attempts = AtomicU32::new(0);
    ActivityRegistry::builder()
        .register("Charge", move |_: ActivityContext, order: String| {
            let attempt = attempts.fetch_add(1, Ordering::SeqCst) + 1;
            async move {
                match attempt {
                    1 | 2 => Err(format!("the bank does not answer about {order}")),
                    _ => Ok(format!("{order} charged")),
                }
            }
        })
        .register("Refuse", |_: ActivityContext, order: String| async move {
            Err::<String, _>(format!("nobody sells {order}"))
        })
        .register("Pack", move |_: ActivityContext, order: String| {
            let mut packing = packing.clone();
            async move {
                let told = packing.wait_for(|packed| *packed).await;
                told.map_err(|error| error.to_string())?;
                Ok(format!("{order} packed"))
            }
        })
        .register("Label", |_: ActivityContext, parcel: String| async move {
            Ok(format!("label of {parcel}"))
        })
        .build()
}

fn orchestrations() -> OrchestrationRegistry {
    let delay = Duration::from_millis(100);
    let policy = move || RetryPolicy::new(5).with_backoff(BackoffStrategy::Fixed { delay });
    OrchestrationRegistry::builder()
        .register(
            "Order",
            move |ctx: OrchestrationContext, order: String| async move {
                ctx.set_custom_status("charging");
                ctx.set_kv_value("order", order.clone());
                ctx.schedule_activity_with_retry("Charge", order.clone(), policy())
                    .await?;
                for parcel in ["left", "right"] {
                    ctx.schedule_sub_orchestration("Parcel", parcel).await?;
                }
                ctx.set_kv_value("parcels", "2");
                ctx.set_custom_status("packing");
                let deadline = ctx.schedule_timer(Duration::from_secs(3600));
                let packed = ctx.schedule_activity("Pack", order);
                match ctx.select2(packed, deadline).await {
                    Either2::First(packed) => packed,
                    Either2::Second(()) => Err("nobody packs".into()),
                }
            },
        )
        .register(
            "Parcel",
            |ctx: OrchestrationContext, parcel: String| async move {
                ctx.schedule_timer(Duration::from_millis(200)).await;
                ctx.schedule_activity("Label", parcel).await
            },
        )
        .register(
            "Approval",
            |ctx: OrchestrationContext, _: String| async move {
                ctx.set_custom_status("waiting for approval");
                Ok(ctx.schedule_wait("approval").await)
            },
        )
        .register(
            "Refused",
            move |ctx: OrchestrationContext, order: String| async move {
                ctx.schedule_activity_with_retry(
                    "Refuse",
                    order,
                    RetryPolicy::new(3).with_backoff(BackoffStrategy::Fixed { delay }),
                )
                .await
            },
        )
        .build()
}
