//! The whole schema at a glance: how many instances in which state, how much work waits, who works.

use duroxide_sql::{Operator, Question, View, ViewRow};
use serde::Serialize;

use crate::output::{cell, number};

/// What four questions to the views answer.
#[derive(Debug, Clone, Serialize)]
pub struct Glance {
    /// One row per state with the number of instances.
    #[serde(rename = "instances")]
    pub states: Vec<ViewRow>,
    /// One row per queue and tag.
    #[serde(rename = "queues")]
    pub depths: Vec<ViewRow>,
    /// The item that has been ready for the longest time.
    pub oldest_ready: Option<ViewRow>,
    /// One row per process that holds something.
    pub workers: Vec<ViewRow>,
}

impl Glance {
    pub async fn read(operator: &Operator) -> anyhow::Result<Self> {
        let states = Question::of(View::Instances)
            .counted_by("state")
            .ordered_by("state");
        let depths = Question::of(View::QueueDepth)
            .ordered_by("queue")
            .ordered_by("tag");
        let oldest = Question::of(View::Queue)
            .equals("state", "Ready")
            .ordered_by("visible_at_utc")
            .page(0, 1);
        Ok(Self {
            states: operator.rows(&states).await?,
            depths: operator.rows(&depths).await?,
            oldest_ready: operator.rows(&oldest).await?.into_iter().next(),
            workers: operator.rows(&Question::of(View::Workers)).await?,
        })
    }

    /// All instances.
    pub fn started(&self) -> i64 {
        self.states.iter().map(|row| number(row, "count")).sum()
    }

    /// Those that have come to an end.
    pub fn finished(&self) -> i64 {
        let ended = |row: &&ViewRow| matches!(cell(row, "state").as_str(), "Completed" | "Failed");
        let rows = self.states.iter().filter(ended);
        rows.map(|row| number(row, "count")).sum()
    }

    /// The sum of a column over all queues.
    pub fn queued(&self, column: &str) -> i64 {
        self.depths.iter().map(|row| number(row, column)).sum()
    }

    /// The sum of a column over all workers.
    pub fn held(&self, column: &str) -> i64 {
        self.workers.iter().map(|row| number(row, column)).sum()
    }
}
