//! Sub-orchestration trees: a root, its children, and theirs.

use anyhow::Result;
use duroxide::OrchestrationContext;
use duroxide::provider_stress_tests::create_default_activities;
use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};

use crate::pump::{Job, Watch, pump};
use crate::scenario::{Run, Scenario};
use crate::settings::Settings;

/// Children of every orchestration that has any.
const WIDTH: u64 = 3;
/// Levels below the root.
const DEPTH: u64 = 2;

pub(super) struct Tree;

/// The input is the number of levels below; a leaf runs an activity. The output counts the leaves.
pub(super) async fn tree(ctx: OrchestrationContext, input: String) -> Result<String, String> {
    let below: u64 = input.parse().map_err(|_| "input is not a number")?;
    if below == 0 {
        ctx.schedule_activity("ProcessTask", input).await?;
        return Ok("1".to_owned());
    }
    let child = |_| ctx.schedule_sub_orchestration("Tree", (below - 1).to_string());
    let mut leaves = 0;
    for result in ctx.join((0..WIDTH).map(child).collect::<Vec<_>>()).await {
        leaves += result?.parse::<u64>().map_err(|e| e.to_string())?;
    }
    Ok(leaves.to_string())
}

#[async_trait::async_trait]
impl Scenario for Tree {
    fn name(&self) -> &'static str {
        "tree"
    }

    fn about(&self) -> &'static str {
        "roots with 3 children of 3 children each"
    }

    fn activities(&self, settings: &Settings) -> ActivityRegistry {
        create_default_activities(settings.activity_delay.as_millis() as u64)
    }

    fn orchestrations(&self, _: &Settings) -> OrchestrationRegistry {
        OrchestrationRegistry::builder()
            .register("Tree", tree)
            .build()
    }

    async fn drive(&self, run: &Run<'_>) -> Result<()> {
        let leaves = WIDTH.pow(DEPTH as u32);
        let wanted = leaves.to_string();
        let check = move |output: &str| match output == wanted {
            true => Ok(()),
            false => Err(format!("{output} leaves")),
        };
        let job = |_| Job {
            orchestration: "Tree",
            input: DEPTH.to_string(),
            activities: leaves,
        };
        pump(run, Watch::outputs(check), job).await;
        Ok(())
    }
}
