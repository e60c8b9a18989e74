//! What is gone through one by one is gone through whole and from its beginning, on servers that give rows in any order.
//!
//! Oldest first, the next key after the last, the first and the last event: each of these is a TOP with an ORDER BY, and
//! without it any row would do.

use std::time::Duration;

use tiberius::Row;

use super::bench::{Bench, turn};
use super::pairs::{ack, enqueue_work, fetch, fetch_work, post, token, weighty, work};
use crate::support::checker;
use crate::support::setting::Setting;

async fn call(bench: &mut Bench, call: &str) -> Vec<Vec<Row>> {
    let text = bench.named(call).await;
    let sets = bench.side.run(&format!("EXEC [$(schema)].{text};")).await;
    sets.unwrap_or_else(|number| panic!("{number} from {call}"))
}

/// Makes the calls a few milliseconds apart, so that each is older than the next.
async fn in_turn(bench: &mut Bench, calls: &[String]) {
    for text in calls {
        call(bench, text).await;
        bench.controls.advance(Duration::from_millis(5));
    }
}

fn text(row: &Row, column: &str) -> String {
    row.get::<&str, _>(column).unwrap_or_default().to_owned()
}

/// What fetches find, one after the other, until they find nothing.
async fn found(bench: &mut Bench, fetches: impl Fn(usize) -> String, column: &str) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        let sets = call(bench, &fetches(found.len())).await;
        if sets[0][0].get("found") != Some(true) {
            return found;
        }
        found.push(text(&sets[0][0], column));
    }
}

fn any_work(n: usize) -> String {
    fetch_work(&format!("{:02x}", 0x80 + n), "w").replace("@include_untagged = 1", "@any_tag = 1")
}

/// An activity with a tag or none.
fn item(activity: u64, session: Option<&str>, tag: Option<&str>) -> String {
    let tag = tag.map_or(String::new(), |tag| format!("\"tag\":\"{tag}\","));
    work(activity, session).replace("\"payload\"", &format!("{tag}\"payload\""))
}

fn enqueue(activity: u64, session: Option<&str>, tag: Option<&str>) -> String {
    let item = item(activity, session, tag);
    format!("enqueue_for_worker @worker_items = N'[{item}]'")
}

/// Turns of many versions come oldest first, and the next one is promised for the time when it is due.
async fn turns(bench: &mut Bench) {
    let names = ["e", "b", "f", "a", "d", "c"];
    bench.prepare(&[]).await;
    for (n, name) in names.iter().enumerate() {
        let pinned = format!(", @pinned_version = {}", 1_000_000 + (n * 7) % 3);
        in_turn(bench, &turn(name, &format!("0{n}"), &pinned)).await;
    }
    let messages: Vec<String> = names.iter().map(|name| post(name, "m")).collect();
    in_turn(bench, &messages).await;
    let ready = found(
        bench,
        |n| fetch(&format!("{:02x}", 0x40 + n)),
        "instance_id",
    )
    .await;
    assert_eq!(ready, names, "turns, oldest first");
    // The next one is due when the shortest lease ends, whichever lane it is in.
    bench.controls.advance(Duration::from_secs(61));
    for (n, lease) in [50_000, 10_000, 40_000, 20_000, 30_000, 60_000]
        .iter()
        .enumerate()
    {
        let leased = fetch(&format!("{:02x}", 0x50 + n));
        call(bench, &leased.replace("60000", &lease.to_string())).await;
    }
    let sets = call(bench, &fetch("99")).await;
    let next = sets[0][0].get::<i64, _>("next_ready_in_ms");
    assert!(next.is_some_and(|ms| ms <= 10_000), "{next:?}");
}

/// Activities of many tags, with sessions and without, come oldest first, and none is passed over.
async fn activities(bench: &mut Bench) {
    let tags = [Some("t3"), None, Some("t1"), Some("t4"), Some("t2"), None];
    for session in [None, Some("s")] {
        bench.prepare(&[]).await;
        let calls: Vec<String> = (1..)
            .zip(tags)
            .map(|(n, tag)| enqueue(n, session, tag))
            .collect();
        in_turn(bench, &calls).await;
        let ready = found(bench, any_work, "payload").await;
        assert_eq!(
            ready,
            ["w1", "w2", "w3", "w4", "w5", "w6"],
            "{session:?}, oldest first"
        );
    }
    // The next one is due when the shortest lease ends, or the first session.
    bench.prepare(&[]).await;
    let leases = [50_000, 10_000, 40_000, 20_000];
    for (n, lease) in leases.iter().enumerate() {
        call(bench, &enqueue(n as u64 + 1, None, None)).await;
        let leased = any_work(n).replace(
            "@lock_timeout_ms = 60000",
            &format!("@lock_timeout_ms = {lease}"),
        );
        call(bench, &leased).await;
    }
    let sets = call(bench, &any_work(60)).await;
    let next = sets[0][0].get::<i64, _>("next_ready_in_ms");
    assert!(next.is_some_and(|ms| ms <= 10_000), "{next:?}");
    bench.prepare(&[]).await;
    for (n, lease) in leases.iter().enumerate() {
        let session = format!("s{n}");
        call(bench, &enqueue(n as u64 + 1, Some(&session), None)).await;
        let leased = any_work(n).replace("60000", &lease.to_string());
        call(bench, &leased.replace("N'w'", &format!("N'w{n}'"))).await;
    }
    let sets = call(bench, &any_work(60)).await;
    let next = sets[0][0].get::<i64, _>("next_ready_in_ms");
    assert!(next.is_some_and(|ms| ms <= 10_000), "{next:?}");
    // Work for a session is as old as its oldest item.
    bench.prepare(&[]).await;
    let mixed = [(1, Some("s")), (2, None), (3, Some("s")), (4, Some("s"))];
    in_turn(bench, &mixed.map(|(n, session)| enqueue(n, session, None))).await;
    let ready = found(bench, any_work, "payload").await;
    assert_eq!(
        ready,
        ["w1", "w2", "w3", "w4"],
        "with a session and without"
    );
    // A tag that has something ready is seen between others that have not.
    bench.prepare(&[]).await;
    for (n, tag) in [(1, "t1"), (3, "t3"), (4, "t4"), (5, "t5")] {
        call(bench, &enqueue(n, Some("s"), Some(tag))).await;
        call(bench, &any_work(usize::from(n as u8))).await;
    }
    call(bench, &enqueue(2, Some("other"), Some("t2"))).await;
    let wait = "wait_for_work @wait_ms = 0, @any_tag = 1, @sessions = 1";
    for _ in 0..4 {
        let sets = call(bench, wait).await;
        assert_eq!(text(&sets[0][0], "session_tag"), "[t2]");
    }
    // Of several sessions the one with the oldest item, and each has its turn.
    bench.prepare(&[]).await;
    let sessions = ["s3", "s1", "s4", "s2"];
    let calls: Vec<String> = (1..)
        .zip(sessions)
        .map(|(n, session)| enqueue(n, Some(session), None))
        .collect();
    in_turn(bench, &calls).await;
    for n in 0..4_usize {
        let own = any_work(n).replace("N'w'", &format!("N'w{n}'"));
        let sets = call(bench, &own).await;
        assert_eq!(text(&sets[0][0], "payload"), format!("w{}", n + 1));
    }
    // Of one session's items that came together the one that was scheduled first.
    let together = [4, 2, 1, 3].map(|n| item(n, Some("s"), None)).join(",");
    bench.prepare(&[]).await;
    call(
        bench,
        &format!("enqueue_for_worker @worker_items = N'[{together}]'"),
    )
    .await;
    let ready = found(bench, any_work, "payload").await;
    assert_eq!(ready, ["w1", "w2", "w3", "w4"], "in the order of their ord");
}

/// A lane promises the earliest of its items, whichever is looked at first.
async fn promises(bench: &mut Bench) {
    let ended = |name: &str, lease: u64| {
        let fetch =
            fetch_work(name, "w").replace("@session_timeout_ms = 60000", "@session_timeout_ms = 0");
        fetch.replace(
            "@lock_timeout_ms = 60000",
            &format!("@lock_timeout_ms = {lease}"),
        )
    };
    let items: Vec<String> = (1..=4).map(|n| enqueue_work(n, Some("s"))).collect();
    bench.prepare(&items).await;
    for (name, lease) in [
        ("a1", 40_000),
        ("a2", 10_000),
        ("a3", 30_000),
        ("a4", 20_000),
    ] {
        call(bench, &ended(name, lease)).await;
    }
    bench.controls.advance(Duration::from_millis(5));
    let sets = call(bench, &fetch_work("a5", "other")).await;
    let next = sets[0][0].get::<i64, _>("next_ready_in_ms");
    assert!(next.is_some_and(|ms| ms <= 10_000), "{next:?}");
    let broken = checker::promises(&mut bench.side).await;
    assert!(broken.is_empty(), "{broken:?}");
}

/// Everything that a turn sends arrives, every session is renewed, every orphan purged.
async fn everything(bench: &mut Bench) {
    let targets = ["d", "b", "e", "a", "c"];
    let messages: Vec<String> = targets
        .iter()
        .enumerate()
        .map(|(n, name)| format!("{{\"ord\":{n},\"instance_id\":\"{name}\",\"kind\":\"StartOrchestration\",\"payload\":\"m\"}}"))
        .collect();
    let items: Vec<String> = (1..)
        .zip(["s3", "s1", "s4", "s2"])
        .map(|(n, session)| item(n, Some(session), None))
        .collect();
    let all = format!(
        ", @orchestrator_items = N'[{}]', @worker_items = N'[{}]'",
        messages.join(","),
        items.join(",")
    );
    let mut setup = turn("i", "aa", &all);
    setup.extend(targets.map(|name| {
        post(&format!("orphan-{name}"), "m").replace("StartOrchestration", "ExternalRaised")
    }));
    bench.prepare(&setup).await;
    let broken = checker::promises(&mut bench.side).await;
    assert!(broken.is_empty(), "{broken:?}");
    for n in 0..4 {
        call(bench, &any_work(n)).await;
    }
    let renew =
        "renew_session_lock @owner_ids = N'[\"w\"]', @extend_ms = 90000, @idle_timeout_ms = 60000";
    let sets = call(bench, renew).await;
    assert_eq!(sets[0][0].get::<i64, _>("renewed"), Some(4), "sessions");
    bench.controls.advance(Duration::from_secs(1));
    let sets = call(bench, "purge_orphan_messages @older_than_ms = 1").await;
    assert_eq!(
        sets[0][0].get::<i64, _>("instances_purged"),
        Some(5),
        "orphans"
    );
    let many = "WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
        INSERT INTO [$(schema)].sessions (session_key, owner_id, locked_until_ms, last_activity_ms)
        SELECT CONCAT(N'[x', n.i, N']'), N'gone', 1, 1 FROM n OPTION (MAXRECURSION 0);";
    bench.side.run(many).await.expect("there are many sessions");
    let sets = call(bench, "cleanup_orphaned_sessions").await;
    assert_eq!(
        sets[0][0].get::<i64, _>("removed"),
        Some(2_500),
        "sessions that ended"
    );
}

/// A tree goes as a whole, be it small or deleted in batches; and of those in a list the oldest go first.
async fn deletions(bench: &mut Bench) {
    for is_large in [false, true] {
        let mut calls = Vec::new();
        for (n, name) in ["root", "c3", "c1", "c4", "c2"].iter().enumerate() {
            let parent = if n == 0 {
                ""
            } else {
                ", @parent_instance_id = N'root'"
            };
            calls.extend(turn(
                name,
                &format!("0{n}"),
                &format!("{parent}, @status = N'Completed'"),
            ));
        }
        if is_large {
            calls = weighty(&calls.join("\n"))
                .split('\n')
                .map(str::to_owned)
                .collect();
        }
        bench.prepare(&calls).await;
        call(bench, "delete_instance @instance_id = N'root', @force = 1").await;
        assert_eq!(
            bench.tables().await,
            Vec::<String>::new(),
            "large: {is_large}"
        );
    }
    bench.prepare(&[]).await;
    for (n, name) in ["d", "b", "c", "a"].iter().enumerate() {
        in_turn(
            bench,
            &turn(name, &format!("0{n}"), ", @status = N'Completed'"),
        )
        .await;
    }
    call(
        bench,
        "delete_instance_bulk @instance_ids = N'[\"a\",\"b\",\"c\",\"d\"]', @limit = 2",
    )
    .await;
    let left = "SELECT COUNT(*) AS n FROM [$(schema)].instances WHERE instance_id IN (N'a', N'c');";
    assert_eq!(bench.side.number(left).await, 2, "the oldest go first");
}

fn events(sets: &[Vec<Row>], at: usize) -> Vec<i64> {
    let ids = sets[at].iter().map(|row| row.get::<i64, _>("event_id"));
    ids.map(|id| id.expect("an id")).collect()
}

/// Histories begin at their beginning and end at their end, and belong to the latest execution.
async fn histories(bench: &mut Bench) {
    let written = |ids: &[u64]| {
        let events: Vec<String> = ids
            .iter()
            .map(|id| format!("{{\"event_id\":{id},\"payload\":\"e{id}\",\"payload_bytes\":2}}"))
            .collect();
        format!("@history = N'[{}]'", events.join(","))
    };
    let turn_of = |name: &str, execution: u64, ids: &[u64], more: &str| {
        let text = ack(name, "i", more);
        let one = written(&[1]).replace("e1", name);
        assert!(text.contains(&one), "{text}");
        let text = text.replace(&one, &written(ids));
        text.replace("@execution_id = 1", &format!("@execution_id = {execution}"))
    };
    let calls = [
        vec![
            post("i", "m1"),
            fetch("a1"),
            turn_of("a1", 1, &[1, 2], ", @status = N'ContinuedAsNew'"),
        ],
        vec![
            post("i", "m2"),
            fetch("a2"),
            turn_of("a2", 2, &[2, 3, 1], ""),
        ],
    ];
    bench.prepare(&calls.concat()).await;
    call(bench, &post("i", "m3")).await;
    call(bench, &fetch("a3")).await;
    let remembered = format!(", @process_id = '{}'", token("99"));
    let sets = call(bench, &turn_of("a3", 2, &[5, 4], &remembered)).await;
    let guid = |row: &Row, column: &str| row.get::<uuid::Uuid, _>(column).map(|id| id.to_string());
    let head = &sets[0][0];
    assert_eq!(
        head.get::<i64, _>("after_event_id"),
        Some(3),
        "what was there"
    );
    assert_eq!(guid(head, "first_turn"), Some(token("a2")));
    assert_eq!(guid(head, "after_turn"), Some(token("a2")));
    let all = [1, 2, 3, 4, 5];
    let sets = call(bench, "[read] @instance_id = N'i'").await;
    assert_eq!(
        events(&sets, 0),
        all,
        "alone, for one who remembers nothing"
    );
    let sets = call(bench, "[read] @instance_id = N'i', @known_event_id = 0").await;
    assert_eq!(events(&sets, 1), all);
    let head = &sets[0][0];
    assert_eq!(head.get::<i64, _>("execution_id"), Some(2));
    assert_eq!(head.get::<i64, _>("last_event_id"), Some(5));
    assert_eq!(guid(head, "first_turn"), Some(token("a2")));
    assert_eq!(guid(head, "last_turn"), Some(token("a3")));
    call(bench, &post("i", "m4")).await;
    let sets = call(
        bench,
        &format!("{}, @process_id = '{}'", fetch("a4"), token("00")),
    )
    .await;
    assert_eq!(events(&sets, 3), all, "of a turn");
    assert_eq!(guid(&sets[2][0], "first_turn"), Some(token("a2")));
    call(bench, &enqueue_work(1, None)).await;
    let sets = call(
        bench,
        &format!("{}, @process_id = '{}'", fetch_work("a5", "w"), token("00")),
    )
    .await;
    assert_eq!(events(&sets, 2), all, "of an activity");
    assert_eq!(sets[1][0].get::<i64, _>("execution_id"), Some(2));
    // A long one is sent from its end.
    let long: Vec<u64> = (6..=90).collect();
    call(bench, &turn_of("a4", 2, &long, "")).await;
    call(bench, &enqueue_work(2, None)).await;
    let sets = call(
        bench,
        &format!("{}, @process_id = '{}'", fetch_work("a6", "w"), token("00")),
    )
    .await;
    let sent = events(&sets, 2);
    assert_eq!(sent, (27..=90).collect::<Vec<_>>(), "the last 64");
    // Without a row of its own an instance is known by its history, and by the latest execution of it.
    let orphaned = "DELETE FROM [$(schema)].instances;";
    bench.side.run(orphaned).await.expect("the row is gone");
    call(bench, &post("i", "m5")).await;
    let sets = call(bench, &fetch("a7")).await;
    assert_eq!(sets[0][0].get::<i64, _>("execution_id"), Some(2));
}

#[tokio::test]
async fn nothing_is_passed_over_and_all_comes_in_its_order() {
    for setting in Setting::each(0..4, &[]).map(Setting::with_adversary) {
        println!("{setting:?}");
        let mut bench = Bench::new(setting).await;
        turns(&mut bench).await;
        activities(&mut bench).await;
        promises(&mut bench).await;
        everything(&mut bench).await;
        deletions(&mut bench).await;
        histories(&mut bench).await;
    }
}
