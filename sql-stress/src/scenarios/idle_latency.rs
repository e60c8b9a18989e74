//! Idle latency: one orchestration with one activity at a time, on an otherwise idle system.

use std::time::{Duration, Instant};

use anyhow::Result;
use duroxide::OrchestrationContext;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};

use crate::pump::{Job, One, Watch, instance_id};
use crate::random::Random;
use crate::scenario::{Run, Scenario, pause};
use crate::settings::Settings;

/// Between two orchestrations the system comes to rest for up to this time.
const REST_MS_MAX: u64 = 20;

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
        ActivityRegistry::builder()
            .register("Echo", |_, input: String| async move { Ok(input) })
            .build()
    }

    fn orchestrations(&self, _: &Settings) -> OrchestrationRegistry {
        let one = |ctx: OrchestrationContext, input: String| async move {
            ctx.schedule_activity("Echo", input).await
        };
        OrchestrationRegistry::builder()
            .register("One", one)
            .build()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let deadline = Instant::now() + run.settings.duration;
        let mut random = Random::new(run.settings.seed);
        for number in 0.. {
            let rest = Duration::from_millis(random.below(REST_MS_MAX + 1));
            if !pause(run, rest).await || Instant::now() >= deadline {
                break;
            }
            run.recorder.launched();
            let one = One {
                client: run.client.clone(),
                recorder: run.recorder.clone(),
                stop: run.stop.clone(),
                patience: run.settings.patience,
                watch: Watch::outputs(|output| match output {
                    "hello" => Ok(()),
                    other => Err(other.to_owned()),
                }),
                begun: Instant::now(),
            };
            let job = Job {
                orchestration: "One",
                input: "hello".to_owned(),
                activities: 1,
            };
            one.run(&instance_id(number), job).await;
        }
        Ok(())
    }
}
