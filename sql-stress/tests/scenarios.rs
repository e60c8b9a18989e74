//! Every scenario, in small, on the embedded server.

use std::time::Duration;

use sql_stress::backend::{Backend as _, SqlBackend, SqlOptions};
use sql_stress::model::{Fact, RunResult};
use sql_stress::run::run;
use sql_stress::scenarios;
use sql_stress::settings::Settings;
use tokio_util::sync::CancellationToken;

/// These have a test of their own.
const DRILLS: [&str; 7] = [
    "failover",
    "kill",
    "claims",
    "commits",
    "cost",
    "retention",
    "two-processes",
];

fn small() -> Settings {
    Settings {
        duration: Duration::from_millis(600),
        concurrent: 5,
        activity_delay: Duration::from_millis(1),
        sizes: vec![20, 60],
        samples: 5,
        program: Some(env!("CARGO_BIN_EXE_sql-stress").into()),
        ..Settings::default()
    }
}

async fn play(name: &str, options: SqlOptions, settings: &Settings) -> RunResult {
    let scenario = scenarios::chosen(&[name.to_owned()]).unwrap().remove(0);
    let backend = SqlBackend::start(options).unwrap();
    let pair = "2:2".parse().unwrap();
    let stop = CancellationToken::new();
    let result = run(&*scenario, pair, &backend, settings, &stop, true)
        .await
        .unwrap();
    // What was counted came from this backend, and nothing of it is left there.
    assert!(backend.requests() > Some(0));
    result
}

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_succeeds() {
    for scenario in scenarios::all() {
        let name = scenario.name();
        if DRILLS.contains(&name) {
            continue;
        }
        let result = play(name, SqlOptions::default(), &small()).await;
        assert!(
            result.is_success(),
            "{name}: {:?} {:?}",
            result.errors,
            result.facts
        );
        assert!(!result.procedures.is_empty(), "{name}");
        assert_eq!(result.scenario, name);
    }
}

/// The embedded server with READ_COMMITTED_SNAPSHOT off, as SQL Server has it, and on, as Azure has it.
const BOTH: [bool; 2] = [false, true];

fn with_snapshot_reads(on: bool) -> SqlOptions {
    SqlOptions {
        no_rcsi: !on,
        ..SqlOptions::default()
    }
}

/// Each way to fail over, once, with short outages: everything completes, no activity is run more
/// than once more per fault, and the time lost is told for each way.
#[tokio::test(flavor = "multi_thread")]
async fn failovers_of_every_way_only_delay() {
    let small = small();
    // An event that is sent into silence waits for as long as a call may take, and nobody here has that long.
    let options = |on| SqlOptions {
        command_timeout: Some(Duration::from_secs(5)),
        ..with_snapshot_reads(on)
    };
    let run = |on| play("failover", options(on), &small);
    let results = tokio::join!(run(false), run(true));
    for (on, result) in BOTH.into_iter().zip([results.0, results.1]) {
        let told = format!(
            "snapshot reads {on}: {:?} {:?}",
            result.errors, result.facts
        );
        assert!(result.is_success(), "{told}");
        let lost = |fact: &&Fact| fact.name.starts_with("time lost");
        assert_eq!(result.facts.iter().filter(lost).count(), 7, "{told}");
        assert_eq!(fact(&result, "faults"), 7.0, "{told}");
        println!("{told}");
    }
}

/// Three processes, each killed once: everything completes with the right counts, and nothing is
/// left in the queues.
#[tokio::test(flavor = "multi_thread")]
async fn killed_processes_lose_nothing() {
    for on in BOTH {
        let result = play("kill", with_snapshot_reads(on), &small()).await;
        let told = format!(
            "snapshot reads {on}: {:?} {:?}",
            result.errors, result.facts
        );
        assert!(result.is_success(), "{told}");
        assert!(fact(&result, "processes killed") >= 3.0, "{told}");
    }
}

fn fact(result: &RunResult, name: &str) -> f64 {
    let found = result.facts.iter().find(|fact| fact.name == name);
    found.expect("the fact is told").value
}

/// A one-activity orchestration costs seven round trips besides what the client asks while it waits: the read before
/// its activity is answered from memory, but for the first perhaps. The engine counts what they cost it.
#[tokio::test(flavor = "multi_thread")]
async fn idle_latency_counts_seven_round_trips() {
    let result = play("idle-latency", SqlOptions::default(), &small()).await;
    let trips = result.round_trips.unwrap();
    assert!((7.0..7.5).contains(&trips.work), "{trips:?}");
    assert!(
        trips
            .requests
            .is_some_and(|all| all > trips.work + trips.client_polls)
    );
    // Fetches that wait have asked in vain at least once.
    assert!(trips.empty_fetches > 0.0, "{trips:?}");
    let server = result.server.unwrap();
    assert!(
        server.flushes >= 4.0 && server.log_bytes > 1_000.0,
        "{server:?}"
    );
    assert!(
        server.bytes_sent > 0.0 && server.rows_written > 0.0,
        "{server:?}"
    );
}

/// Durable commits wait, delayed ones do not: fewer flushes on the way of one activity.
#[tokio::test(flavor = "multi_thread")]
async fn delayed_claims_need_fewer_flushes() {
    let result = play("commits", SqlOptions::default(), &small()).await;
    let told = format!("{:?} {:?}", result.errors, result.facts);
    assert!(result.is_success(), "{told}");
    let durable = fact(
        &result,
        "one activity, all commits durable, flushes on its way",
    );
    let delayed = fact(
        &result,
        "one activity, claims delayed-durable, flushes on its way",
    );
    assert!(delayed < durable, "{told}");
    assert!(fact(&result, "flushes per completion") <= 1.0, "{told}");
}

/// A purge that is given up half-way is resumed, and what was finished is gone.
#[tokio::test(flavor = "multi_thread")]
async fn finished_instances_are_purged_beside_a_load() {
    let settings = Settings {
        purge_per_second: Some(200),
        ..small()
    };
    let result = play("retention", SqlOptions::default(), &settings).await;
    let told = format!("{:?} {:?}", result.errors, result.facts);
    assert!(result.is_success(), "{told}");
    assert!(
        fact(&result, "purge of 60: orchestrations per second without it") > 0.0,
        "{told}"
    );
    assert_eq!(result.curves[0].points.len(), 2);
}

/// Another process finds the work, and the requests of an idle one are counted.
#[tokio::test(flavor = "multi_thread")]
async fn work_of_this_process_is_run_in_another() {
    let settings = Settings {
        duration: Duration::from_secs(6),
        ..small()
    };
    let result = play("two-processes", SqlOptions::default(), &settings).await;
    let told = format!("{:?} {:?}", result.errors, result.facts);
    assert!(result.is_success(), "{told}");
    let name = "one activity, another process, waiting in the database, p50";
    assert!(fact(&result, name) > 0.0, "{told}");
    let idle = "requests of an idle process, another process, asking at intervals";
    assert!(fact(&result, idle) >= 0.0, "{told}");
}

/// Every shape has its price, and more activities cost more of everything.
#[tokio::test(flavor = "multi_thread")]
async fn shapes_are_priced() {
    let result = play("cost", SqlOptions::default(), &small()).await;
    assert!(
        result.is_success(),
        "{:?} {:?}",
        result.errors,
        result.facts
    );
    let of = |shape: &str| {
        let found = result.costs.iter().find(|line| line.shape == shape);
        found.expect("the shape is priced").clone()
    };
    let (one, five) = (of("one activity"), of("sequence of 5"));
    assert!(
        five.cost.calls > one.cost.calls + 4.0 * 4.0,
        "{one:?} {five:?}"
    );
    assert!(five.cost.log_bytes > 2.0 * one.cost.log_bytes);
    assert!(one.delayed_flushes < one.cost.flushes, "{one:?}");
    let large = of("one activity, 10 kB in and out");
    assert!(
        large.cost.log_bytes > one.cost.log_bytes + 40_000.0,
        "{large:?}"
    );
}

/// Our provider beside the one that costs nothing: the same load, with the server's counters.
#[tokio::test(flavor = "multi_thread")]
async fn growth_is_measured_beside_a_provider_that_costs_nothing() {
    use sql_stress::growth::{Plan, Shape, measure, table};
    use sql_stress::memory::MemoryBackend;
    let plan = Plan {
        sizes: vec![5, 15],
        pair: "2:2".parse().unwrap(),
        budget: Duration::from_secs(60),
    };
    let ours = SqlBackend::start(SqlOptions::default()).unwrap();
    for shape in Shape::ALL {
        let curves = [
            measure(shape, &MemoryBackend, &plan).await.unwrap(),
            measure(shape, &ours, &plan).await.unwrap(),
        ];
        let last = &curves[1].points[1];
        assert!(last.calls > Some(2.0) && last.bytes > Some(0.0), "{last:?}");
        assert!(last.flushes > Some(1.0), "{last:?}");
        assert_eq!(curves[0].points[1].calls, None);
        let text = table(shape, &curves).to_string();
        assert_eq!(text.lines().count(), 5, "{text}");
    }
}

/// Growth curves have a point for every size, and rows read that do not depend on the machine.
#[tokio::test(flavor = "multi_thread")]
async fn growth_is_measured_at_every_size() {
    for name in ["backlog", "long-history"] {
        let result = play(name, SqlOptions::default(), &small()).await;
        assert!(!result.curves.is_empty(), "{name}");
        for curve in &result.curves {
            let sizes: Vec<_> = curve.points.iter().map(|point| point.x).collect();
            assert_eq!(sizes, [20.0, 60.0], "{}", curve.name);
            assert!(curve.points.iter().all(|point| point.rows_read.is_some()));
            assert!(!curve.is_wrong(), "{curve:?}");
        }
    }
}

/// Entries visited are counted, dead or alive, while nothing is cleaned up. So few claims all lie within the slack of the
/// floors; that fetches do not grow with more of them is tested by the library, and measured by the scenario.
#[tokio::test(flavor = "multi_thread")]
async fn claims_leave_ghosts_that_are_counted() {
    let result = play("claims", SqlOptions::default(), &small()).await;
    assert!(result.errors.is_empty(), "{:?}", result.errors);
    assert!(fact(&result, "ghosts in the end") > 100.0);
    let names: Vec<_> = result
        .curves
        .iter()
        .map(|curve| curve.name.as_str())
        .collect();
    assert_eq!(names, ["fetch_orchestration_item", "fetch_work_item"]);
    for point in result.curves.iter().flat_map(|curve| &curve.points) {
        assert!(point.entries() >= point.rows_read && point.ghosts_read.is_some());
    }
}

/// Added delay is in every latency. A repeated question of a waiting fetch may by luck find work before
/// its signal comes, so not all of the eight round trips are certain to lie one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn added_round_trip_time_shows_in_the_latency() {
    let options = SqlOptions {
        rtt: Some(Duration::from_millis(10)),
        ..SqlOptions::default()
    };
    let result = play("idle-latency", options, &small()).await;
    assert!(result.is_success(), "{:?}", result.errors);
    assert!(result.latency.unwrap().min_ms >= 50.0);
}

/// With a rate, the number of starts follows from it.
#[tokio::test(flavor = "multi_thread")]
async fn rate_decides_how_many_are_started() {
    let settings = Settings {
        rate: Some(20.0),
        duration: Duration::from_secs(1),
        ..small()
    };
    let result = play("fan-out", SqlOptions::default(), &settings).await;
    assert_eq!(result.launched, 20);
    assert!(result.is_success(), "{:?}", result.errors);
}

/// Nothing is left in the database: the same schema can be used again at once.
#[tokio::test(flavor = "multi_thread")]
async fn schema_is_dropped_after_each_run() {
    let options = SqlOptions {
        schema: Some("again".to_owned()),
        ..SqlOptions::default()
    };
    let backend = SqlBackend::start(options).unwrap();
    for _ in 0..2 {
        drop(backend.open().await.unwrap());
        assert!(backend.open().await.is_err(), "the schema is in use");
        backend.close().await.unwrap();
    }
}
