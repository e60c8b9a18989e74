//! The spans of the methods and of their calls, field by field.

use std::collections::BTreeSet;

use duroxide::providers::{Provider, ProviderAdmin};
use tracing::Level;

use super::{Setup, document};
use crate::support::items::{
    LEASE, activity, completed, create, fetch, fetch_work, metadata, start, started,
};
use crate::support::proxy::Fault;
use crate::support::trace::{Told, Trace};

fn documented(header: &str) -> BTreeSet<String> {
    let rows = document::table(header);
    rows.iter()
        .flat_map(|row| document::quoted(row[0]))
        .collect()
}

/// The last span of this name. It has no field that is not documented, and these values.
fn check(trace: &Trace, name: &str, values: &[(&str, &str)]) -> Told {
    let span = trace
        .spans(name)
        .pop()
        .unwrap_or_else(|| panic!("no span {name}"));
    let (target, header) = match name {
        "call" => ("duroxide_sql::call", "| Field of `call`"),
        _ => ("duroxide_sql::operation", "| Field of a method's span"),
    };
    assert_eq!((span.level, span.target), (Level::DEBUG, target));
    let documented = documented(header);
    for field in span.fields.keys() {
        assert!(
            documented.contains(field),
            "{field} is not documented: {span:?}"
        );
    }
    for (field, value) in values {
        assert_eq!(span.get(field), Some(*value), "{field}: {span:?}");
    }
    for field in ["rows", "retries", "duration_ms"] {
        let number = span.get(field).and_then(|value| value.parse::<u64>().ok());
        assert!(number.is_some(), "{field} is missing: {span:?}");
    }
    span
}

/// One turn and one activity, from the first message to the last ack.
async fn work(setup: &Setup) -> (String, String) {
    let provider = &setup.provider;
    let begin = provider.enqueue_for_orchestrator(start("order"), None);
    begin.await.expect("the message is taken");
    let (_, turn, _) = fetch(provider).await.expect("a turn");
    let renewed = provider.renew_orchestration_item_lock(&turn, LEASE).await;
    renewed.expect("the lease holds");
    let (history, items) = (
        vec![started("order", "{}")],
        vec![activity("order", 2, "{}")],
    );
    provider
        .ack_orchestration_item(&turn, 1, history, items, vec![], metadata(), vec![])
        .await
        .expect("the turn is committed");
    let (_, token, _) = fetch_work(provider).await.expect("an activity");
    let given_back = provider.abandon_work_item(&token, None, false).await;
    given_back.expect("given back");
    let (_, token, attempt) = fetch_work(provider).await.expect("the activity again");
    assert_eq!(attempt, 2);
    let done = provider.ack_work_item(&token, Some(completed("order", 2, "{}")));
    done.await.expect("the activity is done");
    (turn, token)
}

#[tokio::test]
async fn methods_have_spans_with_their_fields() {
    let setup = Setup::plain().await;
    let (trace, _guard) = Trace::catch();
    // Once for the callsites of the tracing library to be known, and once to look at.
    work(&setup).await;
    let cleared = setup.provider.delete_instance("order", true).await;
    cleared.expect("the instance is deleted");
    let (turn, token) = work(&setup).await;
    let schema = ("schema", setup.schema.name().as_str());
    let instance = ("instance_id", "order");
    let (turn, token) = (
        ("lock_token", turn.as_str()),
        ("lock_token", token.as_str()),
    );
    let execution = ("execution_id", "1");
    check(&trace, "enqueue_for_orchestrator", &[schema, instance]);
    let fetched = [
        schema,
        instance,
        execution,
        turn,
        ("attempt", "1"),
        ("retries", "0"),
    ];
    let span = check(&trace, "fetch_orchestration_item", &fetched);
    assert!(
        span.get("rows").unwrap().parse::<u64>().unwrap() > 1,
        "{span:?}"
    );
    check(
        &trace,
        "renew_orchestration_item_lock",
        &[schema, instance, turn],
    );
    check(
        &trace,
        "ack_orchestration_item",
        &[schema, instance, execution, turn],
    );
    let item = [schema, instance, execution, ("activity_id", "2"), token];
    check(&trace, "fetch_work_item", &item);
    check(&trace, "fetch_work_item", &[("attempt", "2")]);
    check(&trace, "abandon_work_item", &[schema, instance]);
    check(&trace, "ack_work_item", &item);
    check(
        &trace,
        "delete_instance",
        &[schema, instance, ("operation", "delete_instance")],
    );
    check(
        &trace,
        "call",
        &[("procedure", "ack_work_item"), ("lane", "settle")],
    );
}

#[tokio::test]
async fn spans_carry_repetitions_and_failures() {
    let setup = Setup::plain().await;
    create(&setup.provider, "order").await;
    let (trace, _guard) = Trace::catch();
    for _ in 0..2 {
        setup.proxy.spoil("read", Fault::Error(1205, 13));
        setup.provider.read("order").await.expect("repeated");
        setup.proxy.spoil("read", Fault::Error(8134, 16));
        setup.provider.read("order").await.expect_err("permanent");
    }
    let spans = trace.spans("read");
    let repeated = &spans[spans.len() - 2];
    assert_eq!(repeated.get("retries"), Some("1"), "{repeated:?}");
    assert_eq!(repeated.get("error_number"), None);
    let failed = check(
        &trace,
        "read",
        &[("error_number", "8134"), ("retries", "0")],
    );
    assert!(failed.get("error").unwrap().contains("8134"));
    check(
        &trace,
        "call",
        &[("error_number", "8134"), ("procedure", "read")],
    );
}
