//! The overview's figures over time.
//!
//! The database is asked only while somebody looks, and not more often for many than for one.

use std::collections::VecDeque;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use duroxide_sql::Operator;
use serde::Serialize;
use tokio::sync::Mutex;

use crate::glance::Glance;

/// Questions come no closer than this.
const APART: Duration = Duration::from_secs(1);
/// How much is remembered: a quarter of an hour of a page that asks every two seconds.
const SAMPLES_MAX: usize = 450;

/// The figures of one moment.
#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    /// This machine's clock, in milliseconds since 1970.
    at_ms: u64,
    started: i64,
    finished: i64,
    ready: i64,
    held: i64,
}

#[derive(Default)]
struct Memory {
    last: Option<(Instant, Glance)>,
    samples: VecDeque<Sample>,
}

/// What was seen while somebody looked.
#[derive(Default)]
pub struct Pulse(Mutex<Memory>);

impl Pulse {
    /// The figures of now, and those before.
    pub async fn read(&self, operator: &Operator) -> anyhow::Result<(Glance, Vec<Sample>)> {
        // Whoever comes while somebody asks waits for that answer instead of asking again.
        let mut memory = self.0.lock().await;
        let glance = match &memory.last {
            Some((at, glance)) if at.elapsed() < APART => glance.clone(),
            _ => {
                let glance = Glance::read(operator).await?;
                memory.remember(&glance);
                glance
            }
        };
        Ok((glance, memory.samples.iter().cloned().collect()))
    }
}

impl Memory {
    fn remember(&mut self, glance: &Glance) {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        let at_ms = since_1970.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0));
        self.samples.push_back(Sample {
            at_ms,
            started: glance.started(),
            finished: glance.finished(),
            ready: glance.queued("ready_items"),
            held: glance.queued("held_items"),
        });
        if self.samples.len() > SAMPLES_MAX {
            self.samples.pop_front();
        }
        self.last = Some((Instant::now(), glance.clone()));
    }
}
