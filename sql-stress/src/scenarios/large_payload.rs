//! Large payloads: inputs and results of many kilobytes, all of which come back in every turn.

use std::sync::Arc;

use anyhow::Result;
use duroxide::OrchestrationContext;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};

use crate::pump::{Job, Watch, pump};
use crate::random::Random;
use crate::scenario::{Run, Scenario};
use crate::settings::Settings;

const PAYLOAD_BYTES: usize = 100_000;

pub(super) struct LargePayload;

#[async_trait::async_trait]
impl Scenario for LargePayload {
    fn name(&self) -> &'static str {
        "large-payload"
    }

    fn about(&self) -> &'static str {
        "activities that take and return --payload bytes (100k), checked on return"
    }

    fn activities(&self, _: &Settings) -> ActivityRegistry {
        ActivityRegistry::builder()
            .register("Reverse", |_, input: String| async move {
                Ok(input.chars().rev().collect::<String>())
            })
            .build()
    }

    fn orchestrations(&self, settings: &Settings) -> OrchestrationRegistry {
        // An even number of reversals gives the input back.
        let count = settings.activities.div_ceil(2) * 2;
        let reverse = move |ctx: OrchestrationContext, input: String| async move {
            let mut text = input;
            for _ in 0..count {
                text = ctx.schedule_activity("Reverse", text).await?;
            }
            Ok(text)
        };
        OrchestrationRegistry::builder()
            .register("Reverse", reverse)
            .build()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let bytes = run.settings.payload.unwrap_or(PAYLOAD_BYTES);
        let payload = Arc::new(Random::new(run.settings.seed).text(bytes));
        let wanted = payload.clone();
        let check = move |output: &str| match output == *wanted {
            true => Ok(()),
            false => Err(format!(
                "{} bytes came back, and not the same",
                output.len()
            )),
        };
        let count = run.settings.activities.div_ceil(2) * 2;
        let job = |_| Job {
            orchestration: "Reverse",
            input: payload.to_string(),
            activities: count as u64,
        };
        pump(run, Watch::outputs(check), job).await;
        Ok(())
    }
}
