//! The metrics have the names, types, units and labels of the document, and count what they say.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use duroxide::providers::Provider;
use duroxide_sql::{AccessToken, MssqlProvider, MssqlProviderBuilder, TokenError};

use super::{Setup, document};
use crate::support::database::own_server;
use crate::support::items::{
    activity, completed, create, fetch, fetch_work, metadata, start, started,
};
use crate::support::proxy::Fault;
use crate::support::recorder::{Kind, Recorder};
use crate::support::wait;

fn documented() -> BTreeMap<String, Kind> {
    let rows = document::table("| Name | Type | Unit")
        .into_iter()
        .map(|row| {
            let [name, kind, unit, labels, _] = row[..] else {
                panic!("{row:?}");
            };
            let kind = Kind {
                kind,
                unit: unit.to_owned(),
                labels: document::quoted(labels),
            };
            (name.trim_matches('`').to_owned(), kind)
        });
    rows.collect()
}

async fn work(provider: &MssqlProvider, instance: &str) {
    let begin = provider.enqueue_for_orchestrator(start(instance), None);
    begin.await.expect("the message is taken");
    let (_, turn, _) = fetch(provider).await.expect("a turn");
    let (history, items) = (
        vec![started(instance, "{}")],
        vec![activity(instance, 2, "{}")],
    );
    provider
        .ack_orchestration_item(&turn, 1, history, items, vec![], metadata(), vec![])
        .await
        .expect("the turn is committed");
    let (_, token, _) = fetch_work(provider).await.expect("an activity");
    let done = provider.ack_work_item(&token, Some(completed(instance, 2, "{}")));
    done.await.expect("the activity is done");
}

/// Everything in the document is described with its unit, and recorded with its labels, when the
/// thing happens that it counts; and nothing else is.
#[tokio::test]
async fn documented_metrics_are_the_ones_that_are_recorded() {
    let recorder = Recorder::default();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let settings = |builder: MssqlProviderBuilder| {
        builder.pool_max(2).slow_call_limit(Duration::from_nanos(1))
    };
    let setup = Setup::new(settings).await;
    let provider = &setup.provider;
    setup
        .proxy
        .spoil("ack_orchestration_item", Fault::Error(1205, 13));
    work(provider, "order").await;
    assert_eq!(
        recorder.values("provider.ack_orchestration_retries", &[]),
        [1.0]
    );
    let deadlocks = [
        ("procedure", "ack_orchestration_item"),
        ("error_type", "deadlock"),
    ];
    assert_eq!(
        recorder.values("duroxide_sql_call_retries_total", &deadlocks),
        [1.0]
    );
    let acks = recorder.values("provider.ack_orchestration_item_duration_ms", &[]);
    assert_eq!(acks.len(), 1);
    let of_ack = [
        ("procedure", "ack_orchestration_item"),
        ("status", "success"),
    ];
    let seconds = recorder.values("duroxide_sql_call_duration_seconds", &of_ack);
    assert!(
        (seconds[0] * 1000.0 - acks[0]).abs() < 0.001,
        "{seconds:?} {acks:?}"
    );

    // A failure, a lost lease, a history from memory and one that is not there, a broken connection.
    setup.proxy.spoil("read", Fault::Error(8134, 16));
    provider.read("order").await.expect_err("permanent");
    let failed = [("operation", "read"), ("error_type", "transaction_failed")];
    assert_eq!(
        recorder.values("provider.infrastructure_errors", &failed),
        [1.0]
    );
    let unknown = uuid::Uuid::new_v4().to_string();
    let lost = provider.ack_work_item(&unknown, None).await;
    lost.expect_err("nobody holds that");
    assert_eq!(
        recorder.values("duroxide_sql_leases_lost_total", &[]),
        [1.0]
    );
    provider.read("order").await.expect("a history");
    provider.read("nobody").await.expect("an empty history");
    assert!(recorder.values("duroxide_sql_history_cache_hits_total", &[])[0] > 0.0);
    setup.proxy.spoil("read", Fault::CutBefore);
    provider.read("order").await.expect("repeated");
    let broken = [("reason", "broken")];
    assert_eq!(
        recorder.values("duroxide_sql_connections_closed_total", &broken),
        [1.0]
    );
    // Nobody but the one who asks has a lost lease for a failure.
    let all: f64 = recorder
        .values("provider.infrastructure_errors", &[])
        .iter()
        .sum();
    assert_eq!(all, 1.0);

    // Two at once on one place for clients: one waits.
    setup.proxy.delay(Duration::from_millis(30));
    let (one, two) = tokio::join!(provider.read("a"), provider.read("b"));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(
        recorder.values("duroxide_sql_pool_callers_waiting", &[]),
        [0.0]
    );
    tokens(&recorder).await;

    let described = recorder.described();
    let recorded = recorder.recorded();
    let expected = documented();
    assert!(expected.len() > 20);
    for (name, kind) in &expected {
        let described = described
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not described"));
        assert_eq!(
            (described.kind, &described.unit),
            (kind.kind, &kind.unit),
            "{name}"
        );
        let recorded = recorded
            .get(name)
            .unwrap_or_else(|| panic!("{name} is not recorded"));
        assert_eq!(
            (recorded.kind, &recorded.labels),
            (kind.kind, &kind.labels),
            "{name}"
        );
    }
    for name in recorded.keys().chain(described.keys()) {
        assert!(expected.contains_key(name), "{name} is not documented");
    }
}

/// A token, a refusal, and a server that is not there.
async fn tokens(recorder: &Recorder) {
    let server = own_server();
    let url = format!(
        "server=tcp:127.0.0.1,{};encrypt=DANGER_PLAINTEXT",
        server.port()
    );
    server
        .controls()
        .accept_token("token", "sa", Duration::from_secs(3600));
    let good = || async {
        Ok::<_, TokenError>(AccessToken {
            secret: "token".into(),
            expires_at: SystemTime::now() + Duration::from_secs(3600),
        })
    };
    let bad = || async { Err(TokenError::new("closed today")) };
    let builder = || MssqlProvider::builder(&url).schema("orders");
    let started = builder().token_source(Arc::new(good)).build().await;
    drop(started.expect("the token is good"));
    let refused = builder().token_source(Arc::new(bad)).build().await;
    refused.expect_err("there is no token");
    assert_eq!(
        recorder.values("duroxide_sql_token_failures_total", &[]),
        [1.0]
    );
    assert!(
        !recorder
            .values("duroxide_sql_connections_failed_total", &[])
            .is_empty()
    );
}

/// The gauges and `pool_status` say the same, and come down when connections end.
#[tokio::test]
async fn gauges_follow_the_pool() {
    let recorder = Recorder::default();
    let _guard = metrics::set_default_local_recorder(&recorder);
    let setup = Setup::new(|builder| builder.pool_max(7).pool_min_idle(3)).await;
    let schema = setup.schema.name().as_str().to_owned();
    let gauge = |name: &str| {
        let name = format!("duroxide_sql_pool_{name}");
        recorder.values(&name, &[("schema", &schema)])
    };
    let full = || async { setup.provider.pool_status().idle == 3 };
    wait::until("three connections are ready", full).await;
    create(&setup.provider, "order").await;
    let status = setup.provider.pool_status();
    assert_eq!(
        (status.max, status.open, status.idle, status.waiting),
        (7, 3, 3, 0)
    );
    for (name, value) in [
        ("connections_max", 7.0),
        ("connections_open", 3.0),
        ("connections_idle", 3.0),
    ] {
        assert_eq!(gauge(name), [value], "{name}");
    }
    let Setup { provider, .. } = &setup;
    provider.close().await;
    drop(setup);
    let none = || async { gauge("connections_open") == [0.0] };
    wait::until("all connections are closed", none).await;
}
