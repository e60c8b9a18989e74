//! What a run is to do, after the command line has been read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use duroxide_sql::Pace;
use serde_json::Value;

/// Concurrency of a runtime: orchestration dispatchers and workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Orchestration dispatchers.
    pub orchestrations: usize,
    /// Workers.
    pub workers: usize,
}

impl std::fmt::Display for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.orchestrations, self.workers)
    }
}

impl std::str::FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = |part: &str| part.trim().parse().ok().filter(|n| (1..=1000).contains(n));
        let pair = text
            .split_once(':')
            .and_then(|(o, w)| Some((parse(o)?, parse(w)?)));
        let (orchestrations, workers) =
            pair.ok_or("expected dispatchers:workers, each 1 to 1000, such as 2:2")?;
        Ok(Self {
            orchestrations,
            workers,
        })
    }
}

/// The settings that scenarios look at.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How long the load lasts.
    pub duration: Duration,
    /// Orchestrations in flight at the same time.
    pub concurrent: usize,
    /// Orchestrations started per second; unlimited when absent.
    pub rate: Option<f64>,
    /// Activities per orchestration.
    pub activities: usize,
    /// How long an activity works.
    pub activity_delay: Duration,
    /// Bytes of payload where a scenario carries some.
    pub payload: Option<usize>,
    /// Sizes that growth scenarios go through; each has its own default.
    pub sizes: Vec<u64>,
    /// Calls measured at each size.
    pub samples: usize,
    /// How long an orchestration may take before it counts as lost.
    pub patience: Duration,
    /// What a durable commit waits for in the scenario that is about it.
    pub commit_latency: Option<Duration>,
    /// How much of the time a purge works, in percent.
    pub purge_share: u32,
    /// Instances that a purge deletes per second at most.
    pub purge_per_second: Option<u32>,
    /// Start of every random sequence.
    pub seed: u64,
    /// The tester itself, for scenarios that start processes of it; the running program when absent.
    pub program: Option<PathBuf>,
}

impl Default for Settings {
    /// The numbers of duroxide's own stress test.
    fn default() -> Self {
        Self {
            duration: Duration::from_secs(10),
            concurrent: 20,
            rate: None,
            activities: 5,
            activity_delay: Duration::from_millis(10),
            payload: None,
            sizes: Vec::new(),
            samples: 100,
            patience: Duration::from_secs(60),
            commit_latency: None,
            purge_share: Pace::DEFAULT_PERCENT,
            purge_per_second: None,
            seed: 1,
            program: None,
        }
    }
}

impl Settings {
    /// All of it by name, for the report.
    #[must_use]
    pub fn by_name(&self) -> BTreeMap<String, Value> {
        let ms = |time: Duration| Value::from(time.as_secs_f64() * 1e3);
        let named = [
            ("duration_ms", ms(self.duration)),
            ("concurrent", self.concurrent.into()),
            ("rate_per_s", self.rate.into()),
            ("activities", self.activities.into()),
            ("activity_delay_ms", ms(self.activity_delay)),
            ("payload_bytes", self.payload.into()),
            ("sizes", self.sizes.clone().into()),
            ("samples", self.samples.into()),
            ("patience_ms", ms(self.patience)),
            ("purge_share_percent", self.purge_share.into()),
            ("purge_per_second", self.purge_per_second.into()),
            ("seed", self.seed.into()),
            ("build_profile", build_profile().into()),
        ];
        let owned = named.map(|(name, value)| (name.to_owned(), value));
        owned.into()
    }
}

/// How this program was built: figures of a debug build say little.
#[must_use]
pub fn build_profile() -> &'static str {
    match cfg!(debug_assertions) {
        true => "debug",
        false => "release",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_read_and_written_alike() {
        let pair: Pair = "8:4".parse().unwrap();
        assert_eq!((pair.orchestrations, pair.workers), (8, 4));
        assert_eq!(pair.to_string(), "8:4");
        for wrong in ["", "8", "8:", "0:1", "1:-1", "1:1001", "a:b"] {
            assert!(wrong.parse::<Pair>().is_err(), "{wrong}");
        }
    }
}
