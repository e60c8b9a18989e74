//! A small order workflow from start to end, without a server to install.
//!
//! ```text
//! cargo run --example quick_start
//! ```
//!
//! Uses the server in `DATABASE_URL` if it is set, otherwise an embedded one in this process. It
//! installs a schema of its own and removes it in the end.
//!
//! ```text
//! cargo run --example quick_start -- --verify --schema orders
//! ```
//!
//! Uses a schema that a DBA has installed on the server in `DATABASE_URL`: installs nothing, and
//! removes only the order. Being a member of the schema's runtime role is enough.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime};
use duroxide::{
    ActivityContext, BackoffStrategy, Client, Either2, Event, EventKind, OrchestrationContext,
    RetryPolicy,
};
use duroxide_sql::{MigrationPolicy, MssqlProvider, MssqlProviderBuilder};

const HELP: &str = "\
A small order workflow from start to end, on the server in DATABASE_URL or on an embedded one.

  --verify        use a schema that a DBA has installed, as a member of its runtime role
  --schema NAME   which one, with --verify [default: duroxide]
  --help          this text";

const PATIENCE: Duration = Duration::from_secs(30);

/// What the command line asks for.
#[derive(Default)]
struct Arguments {
    /// Use a schema that is installed already.
    verify: bool,
    schema: Option<String>,
    help: bool,
}

/// A service waits longer for its database; whoever tries this out wants to hear of a typo.
const START: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("quick_start: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let arguments = arguments()?;
    if arguments.help {
        println!("{HELP}");
        return Ok(());
    }
    // The program tells its own story; the runtime's log would tell it a second time.
    tracing::subscriber::set_global_default(tracing::subscriber::NoSubscriber::default())?;
    let begun = Instant::now();
    if arguments.verify {
        run_in_installed_schema(arguments.schema, begun).await
    } else {
        run_in_fresh_schema(begun).await
    }
}

fn arguments() -> anyhow::Result<Arguments> {
    let mut found = Arguments::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--verify" => found.verify = true,
            "--schema" => found.schema = Some(arguments.next().context("--schema needs a name")?),
            "--help" => found.help = true,
            other => bail!("unknown argument {other}; see --help"),
        }
    }
    if found.schema.is_some() && !found.verify {
        bail!("--schema goes with --verify; without it a fresh schema is installed and removed");
    }
    Ok(found)
}

/// Installs a schema of the run's own, on the embedded server if no other is named.
async fn run_in_fresh_schema(begun: Instant) -> anyhow::Result<()> {
    let url = std::env::var("DATABASE_URL").ok();
    let (url, _server) = match url.filter(|url| !url.is_empty()) {
        Some(url) => {
            step(begun, "using DATABASE_URL");
            (url, None)
        }
        None => {
            let server = mssql_embedded::Server::builder().start()?;
            step(begun, "embedded server started");
            (server.connection_string(), Some(server))
        }
    };
    let schema = format!("quick_start_{}", uuid::Uuid::new_v4().simple());
    let builder = || {
        MssqlProvider::builder(&url)
            .schema(&schema)
            .startup_timeout(START)
    };
    let store = Arc::new(builder().build().await?);
    step(begun, &format!("schema {schema} installed"));

    let result = run_order(store, "order-4711", begun).await;
    let removed = builder().uninstall().await;
    result?;
    removed?;
    step(begun, "schema removed");
    println!("\nNext: the tool in cli/ for DBAs, README.md for settings, and");
    println!("      DATABASE_URL=… cargo run --example quick_start with a server of yours.");
    Ok(())
}

/// Leaves the schema as it was: the order has an id of its own and is deleted in the end.
async fn run_in_installed_schema(schema: Option<String>, begun: Instant) -> anyhow::Result<()> {
    let mut builder = MssqlProviderBuilder::from_env()?.migration_policy(MigrationPolicy::Verify);
    if let Some(schema) = schema {
        builder = builder.schema(schema);
    }
    let store = Arc::new(builder.build().await?);
    step(begun, &format!("schema {} verified", store.schema_name()));

    let order = format!("order-{}", uuid::Uuid::new_v4().simple());
    let result = run_order(store.clone(), &order, begun).await;
    let deleted = Client::new(store).delete_instance(&order, true).await;
    result?;
    deleted?;
    step(begun, "order deleted");
    Ok(())
}

/// Starts the runtime, plays the customer, and shows what was recorded.
async fn run_order(store: Arc<MssqlProvider>, order: &str, begun: Instant) -> anyhow::Result<()> {
    let runtime = Runtime::start_with_store(store.clone(), activities(), orchestrations()).await;
    let client = Client::new(store);
    client
        .start_orchestration(order, "ProcessOrder", "3 teapots")
        .await?;
    step(begun, "order placed");

    let mut version = 0;
    let output = loop {
        let poll = Duration::from_millis(10);
        match client
            .wait_for_status_change(order, version, poll, PATIENCE)
            .await?
        {
            OrchestrationStatus::Running {
                custom_status,
                custom_status_version,
            } => {
                version = custom_status_version;
                let status = custom_status.unwrap_or_default();
                step(begun, &format!("status: {status}"));
                if status.starts_with("waiting for approval") {
                    client.raise_event(order, "approval", "Mia").await?;
                    step(begun, "Mia approves");
                }
            }
            OrchestrationStatus::Completed { output, .. } => break output,
            other => bail!("the order ended as {other:?}"),
        }
    };
    step(begun, &format!("completed: {output}"));
    let history = client
        .read_execution_history(order, 1)
        .await
        .context("history")?;
    print_history(&history);
    runtime.shutdown(None).await;
    Ok(())
}

fn activities() -> ActivityRegistry {
    let attempts = Arc::new(AtomicU32::new(0));
    ActivityRegistry::builder()
        .register("Charge", move |_: ActivityContext, order: String| {
            let attempt = attempts.fetch_add(1, Ordering::SeqCst) + 1;
            async move {
                match attempt {
                    1 | 2 => Err(format!("bank does not answer (attempt {attempt})")),
                    _ => Ok(format!("{order} charged at attempt {attempt}")),
                }
            }
        })
        .register("Ship", |_: ActivityContext, order: String| async move {
            Ok(format!("{order} on its way"))
        })
        .build()
}

fn orchestrations() -> OrchestrationRegistry {
    OrchestrationRegistry::builder()
        .register(
            "ProcessOrder",
            |ctx: OrchestrationContext, order: String| async move {
                ctx.set_custom_status("charging the card");
                let pause = BackoffStrategy::Fixed {
                    delay: Duration::from_millis(200),
                };
                let policy = RetryPolicy::new(5).with_backoff(pause);
                ctx.schedule_activity_with_retry("Charge", order.clone(), policy)
                    .await?;

                ctx.set_custom_status("waiting for approval, one hour at most");
                let approval = ctx.schedule_wait("approval");
                let deadline = ctx.schedule_timer(Duration::from_secs(3600));
                let approver = match ctx.select2(approval, deadline).await {
                    Either2::First(name) => name,
                    Either2::Second(()) => return Err("nobody approved".into()),
                };

                ctx.set_custom_status("packing");
                ctx.schedule_timer(Duration::from_millis(300)).await;
                let shipped = ctx.schedule_activity("Ship", order).await?;
                Ok(format!("{shipped}, approved by {approver}"))
            },
        )
        .build()
}

fn step(begun: Instant, text: &str) {
    println!("{:>7.3} s  {text}", begun.elapsed().as_secs_f64());
}

/// What the database kept, one line per event.
fn print_history(history: &[Event]) {
    println!(
        "\n{:>5}  {:>6}  {:<24}  details",
        "event", "ms", "what happened"
    );
    let first = history.first().map_or(0, |event| event.timestamp_ms);
    for event in history {
        let kind = serde_json::to_value(&event.kind).unwrap_or_default();
        let name = kind["type"].as_str().unwrap_or_default();
        let after = event.timestamp_ms.saturating_sub(first);
        println!(
            "{:>5}  {after:>6}  {name:<24}  {}",
            event.event_id,
            details(&event.kind)
        );
    }
    println!();
}

/// The part of an event that a reader wants to know.
fn details(kind: &EventKind) -> String {
    match kind {
        EventKind::OrchestrationStarted { name, input, .. }
        | EventKind::ActivityScheduled { name, input, .. } => format!("{name}({input})"),
        EventKind::ActivityCompleted { result } => result.clone(),
        EventKind::ActivityFailed { details } => details.display_message(),
        EventKind::ExternalEvent { name, data } => format!("{name}: {data}"),
        EventKind::ExternalSubscribed { name } => name.clone(),
        EventKind::CustomStatusUpdated { status } => status.clone().unwrap_or_default(),
        EventKind::OrchestrationCompleted { output } => output.clone(),
        _ => String::new(),
    }
}
