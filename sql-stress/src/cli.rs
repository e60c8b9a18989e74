//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use clap::Parser;
use duroxide_sql::Pace;

use crate::backend::SqlOptions;
use crate::scenarios;
use crate::settings::{Pair, Settings};

/// Load tester for duroxide-sql. Alone it starts an embedded server and runs the fan-out scenario.
#[derive(Debug, Parser)]
#[command(name = "sql-stress", version, after_help = after_help())]
pub struct Cli {
    /// Scenarios to run, in this order; `all` for every one except soak, commits, cost and the drills, failover and kill
    #[arg(value_name = "SCENARIO", default_value = "fan-out")]
    pub scenarios: Vec<String>,

    /// Connection string of a server; also DATABASE_URL when --server is given
    #[arg(short, long, value_name = "STRING")]
    pub url: Option<String>,

    /// Use the server in DATABASE_URL
    #[arg(long, conflicts_with = "url")]
    pub server: bool,

    /// Schema to create, use and drop; it must not exist yet [default: a random name]
    #[arg(long)]
    pub schema: Option<String>,

    /// Leave the last schema in the database
    #[arg(long)]
    pub keep_schema: bool,

    /// Orchestration dispatchers and workers, as a list such as 2:2,8:8
    #[arg(short, long, value_delimiter = ',', default_value = "2:2")]
    pub pairs: Vec<Pair>,

    /// How long each scenario lasts
    #[arg(short, long, value_parser = duration, default_value = "10s")]
    pub duration: Duration,

    /// Orchestrations in flight at the same time
    #[arg(short, long, default_value_t = 20, value_parser = count)]
    pub concurrent: usize,

    /// Orchestrations to start per second; latency then counts from the planned start
    #[arg(short, long, value_parser = rate)]
    pub rate: Option<f64>,

    /// Activities per orchestration
    #[arg(long, default_value_t = 5, value_parser = count)]
    pub activities: usize,

    /// How long an activity works
    #[arg(long, value_parser = duration, default_value = "10ms")]
    pub activity_delay: Duration,

    /// Bytes of payload, such as 100k
    #[arg(long, value_parser = bytes)]
    pub payload: Option<usize>,

    /// Sizes of the growth scenarios, such as 1k,10k,100k,1m
    #[arg(long, value_delimiter = ',', value_parser = size)]
    pub sizes: Vec<u64>,

    /// Calls measured at each size of a growth scenario
    #[arg(long, default_value_t = 100, value_parser = count)]
    pub samples: usize,

    /// How much of the time retention purges, in percent; 100 is full speed
    #[arg(long, value_name = "PERCENT", default_value_t = Pace::DEFAULT_PERCENT, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub purge_share: u32,

    /// Besides, instances that retention deletes per second at most [default: as many as it can]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub purge_per_second: Option<u32>,

    /// Added network round-trip time
    #[arg(long, value_parser = duration)]
    pub rtt: Option<Duration>,

    /// What a durable commit waits for the log of the embedded server; others share the flush
    #[arg(long, value_parser = duration, conflicts_with_all = ["url", "server"])]
    pub commit_latency: Option<Duration>,

    /// Allow delayed durability in the embedded server, which claims then use
    #[arg(long, conflicts_with_all = ["url", "server"])]
    pub delayed_durability: bool,

    /// Most connections the provider opens [default: the provider's]
    #[arg(long)]
    pub pool_max: Option<u32>,

    /// Let fetches return at once instead of waiting for work
    #[arg(long)]
    pub short_poll: bool,

    /// Do not wait in the database for the work of other processes
    #[arg(long)]
    pub no_wait_for_work: bool,

    /// Bytes of histories that the provider remembers, such as 64m; 0 for none [default: the provider's]
    #[arg(long, value_name = "BYTES", value_parser = bytes_or_none)]
    pub history_cache: Option<usize>,

    /// How long the start waits for a server that does not answer [default: the provider's]
    #[arg(long, value_parser = duration)]
    pub startup_timeout: Option<Duration>,

    /// How long any call may take; what may not be sent twice waits so long for a silent connection [default: the provider's]
    #[arg(long, value_parser = duration)]
    pub command_timeout: Option<Duration>,

    /// Switch READ_COMMITTED_SNAPSHOT off in the embedded server
    #[arg(long, conflicts_with_all = ["url", "server"])]
    pub no_rcsi: bool,

    /// When an orchestration that has not ended counts as lost
    #[arg(long, value_parser = duration, default_value = "60s")]
    pub patience: Duration,

    /// Run everything this many times, in turns, and show the one in the middle and the spread
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = count)]
    pub repeat: usize,

    /// Start of the random sequences
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Write the results as JSON; - for standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Write the results as a page with plots
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,

    /// Print ratios to an earlier run's --json, and what they mean
    #[arg(long, value_name = "OLD.json")]
    pub compare: Option<PathBuf>,

    /// Exit code 1 when throughput, median, round trips, flushes or success are below this ratio to
    /// --compare, such as 0.9, and not within noise
    #[arg(long, value_name = "RATIO", requires = "compare", value_parser = limit)]
    pub fail_below: Option<f64>,

    /// Work on a schema instead of loading one: what the kill scenario starts and kills
    #[arg(long, hide = true)]
    pub serve: bool,

    /// No progress bar
    #[arg(short, long)]
    pub quiet: bool,
}

impl SqlOptions {
    /// What the command line asks for.
    ///
    /// # Errors
    ///
    /// When `DATABASE_URL` is to be used and not set.
    pub fn from_cli(cli: &Cli) -> Result<Self> {
        let url =
            match (&cli.url, cli.server) {
                (None, true) => Some(std::env::var("DATABASE_URL").context(
                    "DATABASE_URL is not set; set it to a connection string or use --url",
                )?),
                (url, _) => url.clone(),
            };
        Ok(Self {
            url,
            schema: cli.schema.clone(),
            keep_schema: cli.keep_schema,
            rtt: cli.rtt,
            pool_max: cli.pool_max,
            short_poll: cli.short_poll,
            no_rcsi: cli.no_rcsi,
            commit_latency: cli.commit_latency,
            delayed_durability: cli.delayed_durability,
            no_wait_for_work: cli.no_wait_for_work,
            history_cache: cli.history_cache,
            startup_timeout: cli.startup_timeout,
            command_timeout: cli.command_timeout,
        })
    }
}

impl Cli {
    /// What the scenarios look at.
    #[must_use]
    pub fn settings(&self) -> Settings {
        Settings {
            duration: self.duration,
            concurrent: self.concurrent,
            rate: self.rate,
            activities: self.activities,
            activity_delay: self.activity_delay,
            payload: self.payload,
            sizes: self.sizes.clone(),
            samples: self.samples,
            patience: self.patience,
            commit_latency: self.commit_latency,
            purge_share: self.purge_share,
            purge_per_second: self.purge_per_second,
            seed: self.seed,
            program: None,
        }
    }
}

fn after_help() -> String {
    let mut text = String::from("Scenarios:\n");
    for scenario in scenarios::all() {
        text.push_str(&format!("  {:<14} {}\n", scenario.name(), scenario.about()));
    }
    text.push_str(
        "\nExit code: 0 when everything that was started succeeded, 1 when something was lost or \
         failed,\n2 when nothing could be run.",
    );
    text
}

/// `250ms`, `10s`, `2m`, `1h`, or a number of seconds.
///
/// # Errors
///
/// When it is none of these.
pub fn duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let factor = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a time such as 250ms, 10s or 2m".to_owned()),
    };
    let seconds = number.parse::<f64>().ok().map(|n| n * factor);
    seconds
        .filter(|s| (0.0..=1e7).contains(s))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected a time such as 250ms, 10s or 2m".to_owned())
}

/// `1000`, `10k`, `1m`.
///
/// # Errors
///
/// When it is none of these.
pub fn size(text: &str) -> Result<u64, String> {
    let lower = text.to_ascii_lowercase();
    let (number, factor) = match lower.as_bytes().last() {
        Some(b'k') => (&lower[..lower.len() - 1], 1_000),
        Some(b'm') => (&lower[..lower.len() - 1], 1_000_000),
        _ => (lower.as_str(), 1),
    };
    let value = number
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(factor));
    value
        .filter(|n| (1..=100_000_000).contains(n))
        .ok_or_else(|| "expected a number from 1 to 100m, such as 10k".to_owned())
}

fn bytes(text: &str) -> Result<usize, String> {
    usize::try_from(size(text)?).map_err(|e| e.to_string())
}

fn bytes_or_none(text: &str) -> Result<usize, String> {
    match text {
        "0" => Ok(0),
        text => bytes(text),
    }
}

fn limit(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|r: &f64| r.is_finite() && *r > 0.0 && *r <= 100.0)
        .ok_or_else(|| "expected a ratio such as 0.9".to_owned())
}

fn count(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|n| (1..=100_000).contains(n))
        .ok_or_else(|| "expected a number from 1 to 100000".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|r: &f64| r.is_finite() && *r > 0.0 && *r <= 1e6)
        .ok_or_else(|| "expected orchestrations per second, above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn defaults_are_those_of_duroxide() {
        let cli = Cli::try_parse_from(["sql-stress"]).unwrap();
        assert_eq!(cli.scenarios, ["fan-out"]);
        let (ours, theirs) = (cli.settings(), Settings::default());
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
        assert_eq!(cli.pairs, ["2:2".parse::<Pair>().unwrap()]);
    }

    #[test]
    fn options_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_and_sizes_are_read() {
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(size("10K"), Ok(10_000));
        assert_eq!(size("1m"), Ok(1_000_000));
        for wrong in ["", "s", "-1s", "10x", "1e99s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "0", "k", "-5", "101m", "é"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn wrong_options_are_refused() {
        for wrong in [
            vec!["--pairs", "2"],
            vec!["--rate", "0"],
            vec!["--concurrent", "0"],
            vec!["--url", "x", "--server"],
            vec!["--url", "x", "--commit-latency", "3ms"],
            vec!["--server", "--no-rcsi"],
            vec!["--fail-below", "0.9"],
            vec!["--compare", "x", "--fail-below", "0"],
            vec!["--no-such-option"],
        ] {
            let arguments = ["sql-stress"].iter().chain(&wrong);
            assert!(Cli::try_parse_from(arguments).is_err(), "{wrong:?}");
        }
    }
}
