//! Idle latency: one orchestration with one activity at a time, on an otherwise idle system.

use std::time::{Duration, Instant};

use anyhow::Result;
use duroxide::OrchestrationContext;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};

use crate::pump::{Job, One, Watch};
use crate::random::Random;
use crate::recorder::Times;
use crate::scenario::{Run, Scenario, pause};
use crate::settings::Settings;

/// Between two orchestrations the system comes to rest for up to this time.
const REST_MAX: Duration = Duration::from_millis(20);

pub(super) struct IdleLatency;

#[async_trait::async_trait]
impl Scenario for IdleLatency {
    fn name(&self) -> &'static str {
        "idle-latency"
    }

    fn about(&self) -> &'static str {
        "one one-activity orchestration at a time: latency and round trips of each"
    }

    fn activities(&self, _: &Settings) -> ActivityRegistry {
        activities()
    }

    fn orchestrations(&self, _: &Settings) -> OrchestrationRegistry {
        orchestrations()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let rest = Duration::ZERO..REST_MAX;
        one_at_a_time(run, ("One", "stress"), run.settings.duration, rest).await;
        Ok(())
    }
}

/// The activity of [`orchestrations`].
pub(super) fn activities() -> ActivityRegistry {
    ActivityRegistry::builder()
        .register("Echo", |_, input: String| async move { Ok(input) })
        .build()
}

/// `One`, with one activity.
pub(super) fn orchestrations() -> OrchestrationRegistry {
    let one = |ctx: OrchestrationContext, input: String| async move {
        ctx.schedule_activity("Echo", input).await
    };
    OrchestrationRegistry::builder()
        .register("One", one)
        .build()
}

/// Runs orchestrations that return their input, one after the other, with rests between them, and returns
/// how long each took. The names are that of the orchestration and how those of the instances begin.
pub(super) async fn one_at_a_time(
    run: &Run<'_>,
    (orchestration, names): (&'static str, &str),
    time: Duration,
    rest: std::ops::Range<Duration>,
) -> Times {
    let deadline = Instant::now() + time;
    let mut random = Random::new(run.settings.seed);
    let mut times = Times::default();
    for number in 0.. {
        let spread = (rest.end - rest.start).as_millis() as u64;
        let pause_for = rest.start + Duration::from_millis(random.below(spread + 1));
        if !pause(run, pause_for).await || Instant::now() >= deadline {
            break;
        }
        run.recorder.launched();
        let begun = Instant::now();
        let one = One {
            client: run.client.clone(),
            recorder: run.recorder.clone(),
            stop: run.stop.clone(),
            patience: run.settings.patience,
            watch: Watch::outputs(|output| match output {
                "hello" => Ok(()),
                other => Err(other.to_owned()),
            }),
            begun,
        };
        let job = Job {
            orchestration,
            input: "hello".to_owned(),
            activities: 1,
        };
        one.run(&format!("{names}-{number:09}"), job).await;
        times.add(begun.elapsed());
    }
    times
}
