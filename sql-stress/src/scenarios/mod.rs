//! The scenarios, one file each.

mod backlog;
mod claims;
mod commits;
mod cost;
mod failover;
mod fan_out;
mod idle_latency;
mod items;
mod kill;
mod large_payload;
mod long_history;
mod purge;
mod retention;
mod sequence;
mod sessions;
mod soak;
mod timers;
mod tree;
mod two_processes;
mod wake_up;

use anyhow::Result;

use crate::connection::may_hold_password;
use crate::scenario::Scenario;

/// Those that `all` leaves out: what runs for long, what needs the embedded server, and the drills.
const ONLY_BY_NAME: [&str; 5] = ["soak", "commits", "cost", "failover", "kill"];

/// All scenarios, in the order in which `all` runs them.
#[must_use]
pub fn all() -> Vec<Box<dyn Scenario>> {
    vec![
        Box::new(fan_out::FanOut),
        Box::new(sequence::Sequence),
        Box::new(idle_latency::IdleLatency),
        Box::new(wake_up::WakeUp),
        Box::new(large_payload::LargePayload),
        Box::new(timers::Timers),
        Box::new(sessions::Sessions),
        Box::new(tree::Tree),
        Box::new(purge::Purge),
        Box::new(long_history::LongHistory),
        Box::new(backlog::Backlog),
        Box::new(claims::Claims),
        Box::new(commits::Commits),
        Box::new(retention::Retention),
        Box::new(two_processes::TwoProcesses),
        Box::new(cost::Cost::new()),
        Box::new(soak::Soak),
        Box::new(failover::Failover),
        Box::new(kill::Kill),
    ]
}

/// The scenarios that the command line names.
///
/// # Errors
///
/// When a name is unknown.
pub fn chosen(names: &[String]) -> Result<Vec<Box<dyn Scenario>>> {
    if names.iter().any(|name| name == "all") {
        let mut scenarios = all();
        scenarios.retain(|scenario| !ONLY_BY_NAME.contains(&scenario.name()));
        return Ok(scenarios);
    }
    let find = |name: &String| {
        let found = all().into_iter().find(|scenario| scenario.name() == name);
        found.ok_or_else(|| match name.as_str() {
            "compare-baseline" | "growth" => anyhow::anyhow!(
                "{name} is an example, so that SQLite is built for it alone: cargo run --release \
                 -p sql-stress --example {name}"
            ),
            "fan-in" => anyhow::anyhow!(
                "fan-in is a part of the example growth: cargo run --release -p sql-stress \
                 --example growth -- fan-in"
            ),
            _ => {
                let names: Vec<_> = all().iter().map(|scenario| scenario.name()).collect();
                let shown = match may_hold_password(name) {
                    true => "(not shown, as it may hold a password; use --url)".to_owned(),
                    false => format!("{name:?}"),
                };
                anyhow::anyhow!("scenario {shown} is unknown; choose {}", names.join(", "))
            }
        })
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unknown_ones_listed() {
        let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let found = chosen(&names(&["timers", "fan-out"])).unwrap();
        assert_eq!((found[0].name(), found[1].name()), ("timers", "fan-out"));
        assert_eq!(
            chosen(&names(&["all"])).unwrap().len(),
            all().len() - ONLY_BY_NAME.len()
        );
        let error = chosen(&names(&["fanout"])).err().unwrap().to_string();
        assert!(error.contains("fan-out"), "{error}");
        for string in ["server=h;password=hunter2", "sqlserver://u:hunter2@h"] {
            let error = chosen(&names(&[string])).err().unwrap().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        let error = chosen(&names(&["compare-baseline"])).err().unwrap();
        assert!(error.to_string().contains("--example"), "{error}");
        let error = chosen(&names(&["fan-in"])).err().unwrap();
        assert!(error.to_string().contains("--example growth"), "{error}");
    }
}
