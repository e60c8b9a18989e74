//! Sequences: each activity waits for the one before.

use anyhow::Result;
use duroxide::OrchestrationContext;
use duroxide::provider_stress_tests::create_default_activities;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};

use crate::pump::{Job, Watch, pump};
use crate::scenario::{Run, Scenario};
use crate::settings::Settings;

pub(super) struct Sequence;

/// Runs as many activities as its input says, one after the other.
pub(super) async fn sequence(ctx: OrchestrationContext, input: String) -> Result<String, String> {
    let count: usize = input.parse().map_err(|_| "input is not a number")?;
    for number in 0..count {
        ctx.schedule_activity("ProcessTask", number.to_string())
            .await?;
    }
    Ok(input)
}

#[async_trait::async_trait]
impl Scenario for Sequence {
    fn name(&self) -> &'static str {
        "sequence"
    }

    fn about(&self) -> &'static str {
        "orchestrations that run their activities one after the other"
    }

    fn activities(&self, settings: &Settings) -> ActivityRegistry {
        create_default_activities(settings.activity_delay.as_millis() as u64)
    }

    fn orchestrations(&self, _: &Settings) -> OrchestrationRegistry {
        OrchestrationRegistry::builder()
            .register("Sequence", sequence)
            .build()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let count = run.settings.activities;
        let job = |_| Job {
            orchestration: "Sequence",
            input: count.to_string(),
            activities: count as u64,
        };
        pump(run, Watch::default(), job).await;
        Ok(())
    }
}
