//! Parallel fan-out: duroxide's own stress test, with its orchestration and its numbers.

use anyhow::Result;
use duroxide::provider_stress_tests::{create_default_activities, create_default_orchestrations};
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};

use crate::pump::{Job, Watch, pump};
use crate::scenario::{Run, Scenario};
use crate::settings::Settings;

pub(super) struct FanOut;

#[async_trait::async_trait]
impl Scenario for FanOut {
    fn name(&self) -> &'static str {
        "fan-out"
    }

    fn about(&self) -> &'static str {
        "orchestrations that run their activities side by side (duroxide's stress test)"
    }

    fn activities(&self, settings: &Settings) -> ActivityRegistry {
        create_default_activities(settings.activity_delay.as_millis() as u64)
    }

    fn orchestrations(&self, _: &Settings) -> OrchestrationRegistry {
        create_default_orchestrations()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let count = run.settings.activities;
        let wanted = format!("Completed {count} tasks ({count} succeeded)");
        let check = move |output: &str| match output == wanted {
            true => Ok(()),
            false => Err(output.to_owned()),
        };
        let job = |_| Job {
            orchestration: "FanoutOrchestration",
            input: format!("{{\"task_count\":{count}}}"),
            activities: count as u64,
        };
        pump(run, Watch::outputs(check), job).await;
        Ok(())
    }
}
