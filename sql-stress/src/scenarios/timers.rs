//! Timers: how late they fire, with many of them waiting.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Result;
use duroxide::OrchestrationContext;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
use parking_lot::Mutex;

use crate::pump::{Job, Watch, pump};
use crate::random::Random;
use crate::recorder::Times;
use crate::scenario::{Run, Scenario};
use crate::settings::Settings;

/// Timers last between these.
const SHORTEST_MS: u64 = 20;
const LONGEST_MS: u64 = 500;

pub(super) struct Timers;

/// Waits for the milliseconds of its input between two looks at the clock, and returns how late the
/// second was. That includes what it takes to run an activity.
pub(super) async fn timer(ctx: OrchestrationContext, input: String) -> Result<String, String> {
    let wait_ms: i64 = input.parse().map_err(|_| "input is not a number")?;
    let clock = |text: String| text.parse::<i64>().map_err(|e| e.to_string());
    let before = clock(ctx.schedule_activity("Clock", "").await?)?;
    ctx.schedule_timer(Duration::from_millis(wait_ms.unsigned_abs()))
        .await;
    let after = clock(ctx.schedule_activity("Clock", "").await?)?;
    Ok((after - before - wait_ms * 1000).to_string())
}

/// Microseconds since 1970.
pub(super) async fn clock(_: duroxide::ActivityContext, _: String) -> Result<String, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_err(|e| e.to_string())?;
    Ok(now.as_micros().to_string())
}

/// A timer's length, in milliseconds.
pub(super) fn length(random: &mut Random) -> u64 {
    SHORTEST_MS + random.below(LONGEST_MS - SHORTEST_MS)
}

#[async_trait::async_trait]
impl Scenario for Timers {
    fn name(&self) -> &'static str {
        "timers"
    }

    fn about(&self) -> &'static str {
        "orchestrations that wait 20 to 500 ms: how late timers fire"
    }

    fn activities(&self, _: &Settings) -> ActivityRegistry {
        ActivityRegistry::builder().register("Clock", clock).build()
    }

    fn orchestrations(&self, _: &Settings) -> OrchestrationRegistry {
        OrchestrationRegistry::builder()
            .register("Timer", timer)
            .build()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let lateness: Arc<Mutex<Times>> = Arc::default();
        let kept = lateness.clone();
        let check = move |output: &str| {
            let late: i64 = output.parse().map_err(|_| output.to_owned())?;
            let late = u64::try_from(late).map_err(|_| format!("fired {late} us early"))?;
            kept.lock().add(Duration::from_micros(late));
            Ok(())
        };
        let mut random = Random::new(run.settings.seed);
        let job = |_| Job {
            orchestration: "Timer",
            input: length(&mut random).to_string(),
            activities: 2,
        };
        pump(run, Watch::outputs(check), job).await;
        let lateness = lateness.lock();
        for (name, quantile) in [("p50", 0.5), ("p99", 0.99)] {
            run.recorder.fact(
                &format!("timer lateness {name}, with one activity"),
                lateness.quantile_ms(quantile),
                "ms",
            );
        }
        Ok(())
    }
}
