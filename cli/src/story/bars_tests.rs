use super::*;
use serde_json::json;

fn event(id: i64, second: i64, kind: &str, more: serde_json::Value) -> ViewRow {
    let mut row = json!({
        "event_id": id, "execution_id": 1, "event_kind": kind,
        "event_at_utc": format!("1970-01-01T00:00:{second:02}.000Z"),
    });
    let fields = row.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    fields.clone()
}

fn summary(bars: &[Bar]) -> Vec<String> {
    let line = |bar: &Bar| {
        format!(
            "{} {} {} {}s {}",
            bar.kind.name(),
            bar.name,
            bar.attempt,
            bar.duration_ms(60_000) / 1000,
            bar.outcome.name()
        )
    };
    bars.iter().map(line).collect()
}

fn story() -> Vec<ViewRow> {
    let charge = json!({ "name": "Charge" });
    let source = |id: i64| json!({ "scheduled_by_event_id": id });
    vec![
        event(1, 0, "OrchestrationStarted", json!({ "name": "Order" })),
        event(2, 0, "ActivityScheduled", charge.clone()),
        event(3, 2, "ActivityFailed", source(2)),
        event(
            4,
            2,
            "TimerCreated",
            json!({ "fires_at_utc": "1970-01-01T00:00:03.000Z" }),
        ),
        event(5, 3, "TimerFired", source(4)),
        event(6, 3, "ActivityScheduled", charge.clone()),
        event(7, 5, "ActivityCompleted", source(6)),
        event(8, 5, "ExternalSubscribed", json!({ "name": "Approval" })),
        event(9, 5, "ExternalSubscribed", json!({ "name": "Approval" })),
        event(10, 5, "TimerCreated", json!({})),
        event(
            11,
            6,
            "SubOrchestrationScheduled",
            json!({ "name": "Parcel", "child_instance_id": "c" }),
        ),
        event(12, 7, "ExternalEvent", json!({ "name": "Approval" })),
        event(13, 8, "ExternalSubscribedCancelled", source(9)),
        event(14, 8, "ActivityScheduled", charge),
    ]
}

#[test]
fn everything_that_lasts_has_a_bar() {
    let bars = bars(&story(), &[]);
    assert_eq!(
        summary(&bars),
        [
            "execution Order 1 60s open",
            "activity Charge 1 2s failed",
            "timer  1 1s completed",
            "activity Charge 2 2s completed",
            "wait Approval 1 2s completed",
            "wait Approval 1 3s cancelled",
            "timer  1 55s open",
            "child Parcel 1 54s open",
            "activity Charge 1 52s open",
        ]
    );
    assert_eq!(bars[2].due_ms, Some(3000));
    assert_eq!(bars[7].child_instance_id.as_deref(), Some("c"));
}

#[test]
fn the_end_of_an_execution_ends_what_is_open_in_it() {
    let mut events = story();
    events.push(event(15, 9, "OrchestrationFailed", json!({})));
    let mut next = event(1, 9, "OrchestrationStarted", json!({ "name": "Order" }));
    next.insert("execution_id".into(), json!(2));
    events.push(next);
    let lines = summary(&bars(&events, &[]));
    assert_eq!(lines[0], "execution Order 1 9s failed");
    assert_eq!(
        lines[6..],
        [
            "timer  1 4s dropped",
            "child Parcel 1 3s dropped",
            "activity Charge 1 1s dropped",
            "execution Order 1 51s open",
        ]
    );
}

#[test]
fn open_activities_tell_who_has_them() {
    let row = json!({
        "scheduled_by_event_id": 14, "execution_id": 1, "attempt_count": 3, "worker_id": "w",
    });
    let other = json!({ "scheduled_by_event_id": 6, "execution_id": 2, "attempt_count": 9 });
    let waiting = [row, other].map(|row| row.as_object().cloned().unwrap_or_default());
    let bars = bars(&story(), &waiting);
    let open = &bars[8];
    assert_eq!((open.deliveries, open.worker_id.as_deref()), (3, Some("w")));
    assert!(bars[..8].iter().all(|bar| bar.deliveries == 0));
}
