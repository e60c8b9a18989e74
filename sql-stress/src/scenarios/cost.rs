//! Cost: what one orchestration of each shape costs a database, counted by the embedded server.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use duroxide::OrchestrationContext;
use duroxide::runtime::OrchestrationStatus;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use tokio::sync::watch;

use crate::model::ShapeCost;
use crate::recorder::End;
use crate::run::server_cost;
use crate::scenario::{Run, Scenario, pause};
use crate::settings::Settings;

/// Name, input and number of activities.
const SHAPES: [(&str, &str, u64); 9] = [
    ("one activity", "sequence:1:10", 1),
    ("sequence of 5", "sequence:5:10", 5),
    ("sequence of 20", "sequence:20:10", 20),
    ("fan-out of 5", "fan-out:5:10", 5),
    ("fan-out of 100", "fan-out:100:10", 100),
    ("one activity, 10 kB in and out", "sequence:1:10000", 1),
    ("timer", "timer:0:0", 0),
    ("child with one activity", "child:1:10", 1),
    ("three executions, one activity each", "again:3:10", 3),
];
/// Activities of a shape that are enough for a mean, but at least three orchestrations and at most these.
const ENOUGH: u64 = 100;
const EACH: usize = 20;
/// The last turn is committed within this time after it has begun, and nothing else happens.
const REST: Duration = Duration::from_millis(100);
const TIMER: Duration = Duration::from_millis(10);

/// Where the orchestrations tell that they are in their last turn: a client that asks would be counted.
#[derive(Clone)]
pub(super) struct Cost {
    ended: watch::Sender<String>,
}

impl Cost {
    pub(super) fn new() -> Self {
        Self {
            ended: watch::Sender::default(),
        }
    }
}

#[async_trait::async_trait]
impl Scenario for Cost {
    fn name(&self) -> &'static str {
        "cost"
    }

    fn about(&self) -> &'static str {
        "what one orchestration of each shape costs a database: calls, flushes, log, rows, locks"
    }

    fn activities(&self, _: &Settings) -> ActivityRegistry {
        ActivityRegistry::builder()
            .register("Echo", |_, input: String| async move { Ok(input) })
            .build()
    }

    fn orchestrations(&self, _: &Settings) -> OrchestrationRegistry {
        let ended = self.ended.clone();
        let shape = move |ctx: OrchestrationContext, input: String| {
            let ended = ended.clone();
            async move {
                let done = shape(&ctx, &input).await?;
                ended.send_replace(ctx.instance_id());
                Ok(done)
            }
        };
        let child = |ctx: OrchestrationContext, input: String| async move {
            ctx.schedule_activity("Echo", input).await
        };
        OrchestrationRegistry::builder()
            .register("Shape", shape)
            .register("Child", child)
            .build()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let target = run.backend.target();
        let target = target.context("only a SQL Server has these costs")?;
        let controls = target.controls;
        let controls = controls.context("only the embedded server counts them; leave --url out")?;
        let allow = |on| {
            let allowed = controls.allow_delayed_durability(&target.database, on);
            allowed.map_err(|error| anyhow::anyhow!(error.message.clone()))
        };
        let most = run.settings.samples.min(EACH);
        for (at, (name, input, activities)) in SHAPES.iter().enumerate() {
            let each = ENOUGH / activities.max(&1);
            let each = usize::try_from(each)?.clamp(3.min(most), most);
            allow(true)?;
            let names = format!("delayed-{at}");
            let delayed = self.some(run, &names, input, *activities, each).await?;
            allow(false)?;
            let names = format!("durable-{at}");
            let cost = self.some(run, &names, input, *activities, each).await?;
            run.recorder.cost(ShapeCost {
                shape: (*name).to_owned(),
                cost,
                delayed_flushes: delayed.flushes,
            });
            if run.stop.is_cancelled() {
                break;
            }
        }
        Ok(())
    }
}

impl Cost {
    /// Runs some orchestrations one after the other, and counts.
    async fn some(
        &self,
        run: &Run<'_>,
        names: &str,
        input: &str,
        activities: u64,
        count: usize,
    ) -> Result<crate::model::ServerCost> {
        let before = (run.backend.counters(), run.backend.flushes());
        let mut ended = self.ended.subscribe();
        for n in 0..count {
            let name = format!("{names}-{n:03}");
            run.recorder.launched();
            let begun = std::time::Instant::now();
            run.client
                .start_orchestration(&name, "Shape", input)
                .await?;
            let told = ended.wait_for(|ended| *ended == name);
            let told = tokio::time::timeout(run.settings.patience, told).await;
            told.with_context(|| format!("{name} did not end"))??;
            run.recorder
                .ended(End::Completed, begun.elapsed(), activities);
        }
        pause(run, REST).await;
        let counted = before
            .0
            .zip(run.backend.counters())
            .map(|(a, b)| b.since(&a));
        let flushes = before.1.zip(run.backend.flushes()).map(|(a, b)| b - a);
        let last = format!("{names}-{:03}", count - 1);
        let status = run.client.get_orchestration_status(&last).await?;
        let is_completed = matches!(status, OrchestrationStatus::Completed { .. });
        ensure!(is_completed, "{last} did not complete: {status:?}");
        let counted = counted.context("the server cannot be asked")?;
        server_cost(&counted, flushes, count as u64).context("the server cannot be asked")
    }
}

/// The input is the kind, a number and the bytes that each activity takes and returns.
async fn shape(ctx: &OrchestrationContext, input: &str) -> Result<String, String> {
    let mut parts = input.split(':');
    let kind = parts.next().unwrap_or_default();
    let mut number = || parts.next().and_then(|part| part.parse::<usize>().ok());
    let (count, bytes) = number().zip(number()).ok_or("no numbers in the input")?;
    let payload: Arc<str> = "x".repeat(bytes).into();
    match kind {
        "sequence" => {
            for _ in 0..count {
                ctx.schedule_activity("Echo", &*payload).await?;
            }
        }
        "fan-out" => {
            let activities = (0..count).map(|_| ctx.schedule_activity("Echo", &*payload));
            for result in ctx.join(activities.collect()).await {
                result?;
            }
        }
        "timer" => ctx.schedule_timer(TIMER).await,
        "child" => {
            ctx.schedule_sub_orchestration("Child", &*payload).await?;
        }
        "again" => {
            ctx.schedule_activity("Echo", &*payload).await?;
            if count > 1 {
                let next = format!("again:{}:{bytes}", count - 1);
                return ctx.continue_as_new(next).await;
            }
        }
        other => return Err(format!("shape {other} is unknown")),
    }
    Ok("done".to_owned())
}
