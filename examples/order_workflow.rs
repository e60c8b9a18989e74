//! A larger order workflow: payment with retries and compensation, an approval with a time-out, a
//! sub-orchestration per parcel, and progress that can be watched while it runs.
//!
//! ```text
//! cargo run --example order_workflow
//! ```
//!
//! Three orders show three ends: one is delivered, one is approved by nobody, and of one the carrier
//! loses a parcel; what was charged for the latter two is paid back. Uses the server in
//! `DATABASE_URL` if it is set, otherwise an embedded one in this process, and a schema of its own.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::bail;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use duroxide::runtime::{OrchestrationStatus, Runtime};
use duroxide::{
    ActivityContext, BackoffStrategy, Client, Either2, OrchestrationContext, RetryPolicy,
};
use duroxide_sql::MssqlProvider;
use serde::{Deserialize, Serialize};

const HELP: &str = "\
Orders with payment, approval and parcels, on the server in DATABASE_URL or on an embedded one.

  --help   this text";

const PATIENCE: Duration = Duration::from_secs(60);
/// From this amount on somebody must approve.
const APPROVAL_FROM: u32 = 100;

/// What a customer orders.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Order {
    id: String,
    amount: u32,
    parcels: u32,
    /// A carrier that loses the last parcel.
    careless_carrier: bool,
    /// How long an approval is waited for.
    approval_limit_s: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("order_workflow: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    match std::env::args().nth(1).as_deref() {
        None => {}
        Some("--help") => {
            println!("{HELP}");
            return Ok(());
        }
        Some(other) => bail!("unknown argument {other}; see --help"),
    }
    // The program tells its own story; the runtime's log would tell it a second time.
    tracing::subscriber::set_global_default(tracing::subscriber::NoSubscriber::default())?;
    let url = std::env::var("DATABASE_URL").ok();
    let (url, _server) = match url.filter(|url| !url.is_empty()) {
        Some(url) => (url, None),
        None => {
            let server = mssql_embedded::Server::builder().start()?;
            (server.connection_string(), Some(server))
        }
    };
    let schema = format!("order_workflow_{}", uuid::Uuid::new_v4().simple());
    let builder = || MssqlProvider::builder(&url).schema(&schema);
    let store = Arc::new(builder().build().await?);
    let result = sell(store.clone()).await;
    store.close().await;
    builder().uninstall().await?;
    result?;
    println!("schema removed");
    Ok(())
}

async fn sell(store: Arc<MssqlProvider>) -> anyhow::Result<()> {
    let runtime = Runtime::start_with_store(store.clone(), activities(), orchestrations()).await;
    let client = Client::new(store);
    let order = |id: &str, amount, parcels| Order {
        id: id.to_owned(),
        amount,
        parcels,
        careless_carrier: id == "order-3",
        // Nobody will approve the second, so there is no need to wait for long.
        approval_limit_s: if id == "order-2" { 1 } else { 3600 },
    };
    let orders = [
        order("order-1", 250, 2),
        order("order-2", 500, 1),
        order("order-3", 50, 2),
    ];
    for order in &orders {
        client
            .start_orchestration_typed(&order.id, "ProcessOrder", order.clone())
            .await?;
    }
    // The customers watch their orders at the same time; only the first is approved by somebody.
    let [first, second, third] = &orders;
    let (first, second, third) = tokio::join!(
        watch(&client, &first.id, Some("Mia")),
        watch(&client, &second.id, None),
        watch(&client, &third.id, None),
    );
    for (order, end) in orders.iter().zip([first?, second?, third?]) {
        println!("{}  {end}", order.id);
        // What an order noted down outlives it.
        for key in ["receipt", "approved by", "parcels shipped"] {
            if let Some(value) = client.get_kv_value(&order.id, key).await? {
                println!("           {key}: {value}");
            }
        }
    }
    runtime.shutdown(None).await;
    Ok(())
}

/// Prints what an order says about itself until it ends, and returns how it ended.
async fn watch(client: &Client, id: &str, approver: Option<&str>) -> anyhow::Result<String> {
    let mut version = 0;
    loop {
        let poll = Duration::from_millis(20);
        let change = client.wait_for_status_change(id, version, poll, PATIENCE);
        match change.await? {
            OrchestrationStatus::Running {
                custom_status,
                custom_status_version,
            } => {
                version = custom_status_version;
                let status = custom_status.unwrap_or_default();
                println!("{id}  … {status}");
                if let (true, Some(name)) = (status.starts_with("waiting for approval"), approver) {
                    client.raise_event_typed(id, "approval", &name).await?;
                }
            }
            OrchestrationStatus::Completed { output, .. } => {
                return Ok(format!("done: {output}"));
            }
            OrchestrationStatus::Failed { details, .. } => {
                return Ok(format!("failed: {}", details.display_message()));
            }
            OrchestrationStatus::NotFound => bail!("{id} is gone"),
        }
    }
}

fn activities() -> ActivityRegistry {
    let attempts = AtomicU32::new(0);
    ActivityRegistry::builder()
        .register_typed("Charge", move |_: ActivityContext, order: Order| {
            // The bank is busy when the first order is paid for.
            let attempt = match order.id.as_str() {
                "order-1" => attempts.fetch_add(1, Ordering::SeqCst) + 1,
                _ => 3,
            };
            async move {
                if attempt < 3 {
                    return Err(format!("the bank does not answer, attempt {attempt}"));
                }
                Ok(format!("receipt for {}, attempt {attempt}", order.amount))
            }
        })
        .register_typed("Refund", |_: ActivityContext, receipt: String| async move {
            Ok(format!("{receipt} paid back"))
        })
        .register_typed(
            "Hand over",
            |_: ActivityContext, (nth, lost): (u32, bool)| async move {
                if lost {
                    return Err(format!("the carrier has lost parcel {nth}"));
                }
                Ok(nth)
            },
        )
        .build()
}

fn orchestrations() -> OrchestrationRegistry {
    OrchestrationRegistry::builder()
        .register_typed("ProcessOrder", process_order)
        .register_typed(
            "ShipParcel",
            |ctx: OrchestrationContext, parcel: (u32, bool)| async move {
                // Packing takes its time; nobody has to stay awake for it.
                ctx.schedule_timer(Duration::from_millis(100)).await;
                let handed_over = ctx.schedule_activity_typed::<_, u32>("Hand over", &parcel);
                handed_over.await
            },
        )
        .build()
}

async fn process_order(ctx: OrchestrationContext, order: Order) -> Result<String, String> {
    ctx.set_custom_status("charging");
    let pause = BackoffStrategy::Exponential {
        base: Duration::from_millis(50),
        multiplier: 2.0,
        max: Duration::from_secs(1),
    };
    let policy = RetryPolicy::new(5).with_backoff(pause);
    let receipt: String = ctx
        .schedule_activity_with_retry_typed("Charge", &order, policy)
        .await?;
    ctx.set_kv_value("receipt", receipt.clone());

    // From here on whatever fails must give the money back.
    match deliver(&ctx, &order).await {
        Ok(parcels) => Ok(format!("{parcels} parcels")),
        Err(reason) => {
            ctx.set_custom_status("paying back");
            let refund = ctx.schedule_activity_typed::<_, String>("Refund", &receipt);
            refund.await?;
            Err(format!("{reason}; refunded"))
        }
    }
}

async fn deliver(ctx: &OrchestrationContext, order: &Order) -> Result<usize, String> {
    if order.amount >= APPROVAL_FROM {
        ctx.set_custom_status("waiting for approval");
        let approval = ctx.schedule_wait_typed::<String>("approval");
        let limit = ctx.schedule_timer(Duration::from_secs(order.approval_limit_s));
        match ctx.select2(approval, limit).await {
            Either2::First(name) => ctx.set_kv_value("approved by", name),
            Either2::Second(()) => return Err("nobody approved in time".to_owned()),
        }
    }
    ctx.set_custom_status("packing");
    let parcels = (1..=order.parcels).map(|nth| {
        let is_lost = order.careless_carrier && nth == order.parcels;
        let child = format!("{}/parcel-{nth}", order.id);
        ctx.schedule_sub_orchestration_with_id_typed::<_, u32>("ShipParcel", child, &(nth, is_lost))
    });
    let shipped = ctx.join(parcels.collect::<Vec<_>>()).await;
    let handed_over = shipped.iter().filter(|parcel| parcel.is_ok()).count();
    ctx.set_kv_value("parcels shipped", handed_over.to_string());
    ctx.set_custom_status(format!(
        "{handed_over} of {} parcels shipped",
        order.parcels
    ));
    let all: Result<Vec<u32>, String> = shipped.into_iter().collect();
    Ok(all?.len())
}
