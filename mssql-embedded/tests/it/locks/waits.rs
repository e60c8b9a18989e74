//! Who waits for whom, as the operator's query shows it.

use std::time::Duration;

use crate::locks::table;
use crate::support::{Session, blocked, within};

/// The query on blocked sessions that docs/operations.md recommends.
fn operators_query() -> &'static str {
    let manual = include_str!("../../../../docs/operations.md");
    let from = manual
        .find("SELECT r.session_id, r.blocking_session_id")
        .expect("the manual has the query");
    let statement = &manual[from..];
    let end = statement.find(';').expect("the query ends");
    &statement[..end]
}

/// A session that waits shows the one that blocks it, for what and for how long; once it has the lock, nothing is shown.
#[tokio::test]
async fn blocked_session_shows_its_blocker() {
    let (server, mut holder) = table(false).await;
    let controls = server.controls();
    holder
        .run("BEGIN TRAN; UPDATE dbo.t SET v = 1 WHERE id = 20;")
        .await
        .unwrap();
    let waiter = Session::open(&server).await;
    let waiter_spid = waiter.spid;
    let waiting = waiter.spawn("UPDATE dbo.t SET v = 2 WHERE id = 20;");
    blocked(&controls, waiter_spid).await;
    controls.advance(Duration::from_secs(7));

    let mut operator = Session::open(&server).await;
    let rows = operator.rows(operators_query()).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(
        rows[0].get::<i16, _>("session_id"),
        Some(waiter_spid as i16)
    );
    let blocker = rows[0].get::<i16, _>("blocking_session_id");
    assert_eq!(blocker, Some(holder.spid as i16));
    let wait_type = rows[0].get::<&str, _>("wait_type").unwrap();
    assert!(wait_type.starts_with("LCK_M_"), "{wait_type}");
    assert!(rows[0].get::<i32, _>("wait_time") >= Some(7000));

    let rows = operator
        .rows(
            "SELECT s.status, r.status, r.wait_resource FROM sys.dm_exec_sessions AS s
             LEFT JOIN sys.dm_exec_requests AS r ON r.session_id = s.session_id ORDER BY s.session_id",
        )
        .await
        .unwrap();
    let seen: Vec<_> = rows
        .iter()
        .map(|row| (row.get::<&str, _>(0), row.get::<&str, _>(1)))
        .collect();
    assert_eq!(
        seen,
        [
            (Some("sleeping"), None),
            (Some("running"), Some("suspended")),
            (Some("running"), Some("running")),
        ]
    );
    let resource = rows[1].get::<&str, _>("wait_resource").unwrap();
    assert!(resource.starts_with("KEY: 1:"), "{resource}");

    holder.run("COMMIT").await.unwrap();
    within(waiting).await.unwrap().1.unwrap();
    assert!(operator.rows(operators_query()).await.unwrap().is_empty());
}
