//! Sessions: activities that must all run where the first one ran.

use anyhow::Result;
use duroxide::OrchestrationContext;
use duroxide::provider_stress_tests::create_default_activities;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};

use crate::pump::{Job, Watch, pump};
use crate::scenario::{Run, Scenario};
use crate::settings::Settings;

pub(super) struct Sessions;

#[async_trait::async_trait]
impl Scenario for Sessions {
    fn name(&self) -> &'static str {
        "sessions"
    }

    fn about(&self) -> &'static str {
        "orchestrations whose activities share a session"
    }

    fn activities(&self, settings: &Settings) -> ActivityRegistry {
        create_default_activities(settings.activity_delay.as_millis() as u64)
    }

    fn orchestrations(&self, settings: &Settings) -> OrchestrationRegistry {
        let count = settings.activities;
        let session = move |ctx: OrchestrationContext, session: String| async move {
            let schedule = |number: usize| {
                let input = number.to_string();
                ctx.schedule_activity_on_session("ProcessTask", input, session.as_str())
            };
            let results = ctx.join((0..count).map(schedule).collect::<Vec<_>>()).await;
            for (number, result) in results.into_iter().enumerate() {
                let result = result?;
                if result != format!("processed: {number}") {
                    return Err(format!("result {number} is {result}"));
                }
            }
            Ok(session)
        };
        OrchestrationRegistry::builder()
            .register("Session", session)
            .build()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let activities = run.settings.activities as u64;
        let job = |number| Job {
            orchestration: "Session",
            input: format!("session-{number}"),
            activities,
        };
        pump(run, Watch::default(), job).await;
        Ok(())
    }
}
