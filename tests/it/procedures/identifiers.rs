//! Ids that the tables could not tell apart are refused, by every procedure that takes one.

use super::{Session, public_procedures};
use crate::support::database::TestSchema;

/// SQL Server cuts long parameters and ignores trailing spaces; neither may merge two instances.
#[tokio::test]
async fn unusable_instance_id_is_refused_by_every_procedure() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    let too_long = format!("N'{}'", "x".repeat(401));
    let cut_to_fit = format!("N'{}'", "x".repeat(9000));
    let mut checked = 0;
    for procedure in public_procedures() {
        let takes_one = |(name, _): &(String, String)| name == "@instance_id";
        if !procedure.parameters.iter().any(takes_one) {
            continue;
        }
        for (id, number) in [
            (too_long.as_str(), 51001),
            (cut_to_fit.as_str(), 51001),
            ("N'a '", 51002),
            ("N'😀 '", 51002),
            ("N''", 51002),
        ] {
            let result = session.run(&procedure.call("@instance_id", id)).await;
            assert_eq!(result.err(), Some(number), "{} {id}", procedure.name);
        }
        checked += 1;
    }
    assert!(checked >= 18, "only {checked} procedures take an id");
}

/// The longest id works, and so does one that ends in a character some collations ignore.
#[tokio::test]
async fn ids_at_the_limit_are_kept_whole() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    for id in ["y".repeat(400), "tail\u{200b}".into(), "smile 😀".into()] {
        let enqueue = format!(
            "EXEC [$(schema)].enqueue_for_orchestrator @instance_id = N'{id}', @kind = N'CancelInstance', @payload = N'x';"
        );
        session.run(&enqueue).await.expect("the id is accepted");
        let query = format!(
            "SELECT COUNT(*) AS n FROM [$(schema)].orchestrator_queue WHERE instance_id = N'{id}' AND DATALENGTH(instance_id) = {};",
            id.encode_utf16().count() * 2
        );
        assert_eq!(session.number(&query).await, 1, "{id}");
    }
}

/// The ids inside lists are checked like single ones, and nothing is written.
#[tokio::test]
async fn unusable_ids_in_lists_are_refused() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    let long = "x".repeat(401);
    let ack = "EXEC [$(schema)].ack_orchestration_item @lock_token = N'none', @execution_id = 1, ";
    let key = |key: &str| format!(r#"{ack} @kv_changes = N'[{{"key":"{key}","value":"v"}}]';"#);
    let message = |id: &str| {
        format!(
            r#"{ack} @orchestrator_items = N'[{{"instance_id":"{id}","kind":"k","payload":"p"}}]';"#
        )
    };
    let work = |id: &str, rest: &str| {
        format!(
            r#"EXEC [$(schema)].enqueue_for_worker @worker_items = N'[{{"ord":0,"instance_id":"{id}","execution_id":1,"activity_id":1,"payload":"p"{rest}}}]';"#
        )
    };
    let delete = |id: &str| {
        format!(r#"EXEC [$(schema)].delete_instances_atomic @instance_ids = N'["{id}"]';"#)
    };
    for (batch, number) in [
        (key(&long), 51001),
        (key("k "), 51002),
        (message(&long), 51001),
        (message("a "), 51002),
        (work(&long, ""), 51001),
        (work("a ", ""), 51002),
        (
            work("a", &format!(r#","session_id":"{}""#, &long[..399])),
            51001,
        ),
        (work("a", &format!(r#","tag":"{}""#, &long[..257])), 51001),
        (delete(&long), 51001),
        (delete("a "), 51002),
    ] {
        assert_eq!(session.run(&batch).await.err(), Some(number), "{batch}");
    }
    let rows = "SELECT (SELECT COUNT(*) FROM [$(schema)].worker_queue) + (SELECT COUNT(*) FROM [$(schema)].instance_locks) AS n;";
    assert_eq!(session.number(rows).await, 0);
}

/// Characters below the space sort before the end of a text, because the shorter one is filled up with spaces. Walks
/// through ids must begin before them.
#[tokio::test]
async fn ids_that_begin_with_a_control_character_are_walked_to() {
    let schema = TestSchema::new();
    schema.provider().await;
    let mut session = Session::open(&schema).await;
    let mut exec = async |call: String| {
        let text = format!("EXEC [$(schema)].{call};");
        session.run(&text).await.expect("the call succeeds")
    };
    let fetch = || {
        let token = uuid::Uuid::new_v4();
        format!("fetch_orchestration_item @lock_token = N'{token}', @lock_timeout_ms = 60000")
    };
    let start = "@kind = N'StartOrchestration', @payload = N'x'";
    exec(format!(
        "enqueue_for_orchestrator @instance_id = N'\nparent', {start}"
    ))
    .await;
    let turn = exec(fetch()).await;
    let token: &str = turn[0][0].get("lock_token").expect("the parent's turn");
    exec(format!(
        r#"ack_orchestration_item @lock_token = N'{token}', @execution_id = 1, @orchestration_name = N'o', @orchestration_version = N'1',
           @orchestrator_items = N'[{{"ord":0,"instance_id":"\nchild","kind":"StartOrchestration","payload":"x"}}]'"#
    ))
    .await;
    let child = exec(fetch()).await;
    assert_eq!(child[0][0].get("instance_id"), Some("\nchild"));

    let gone = exec("delete_instance @instance_id = N'\nparent', @force = 1".to_owned()).await;
    assert_eq!(gone[0][0].get("instances_deleted"), Some(1_i64));

    exec("enqueue_for_orchestrator @instance_id = N'\torphan', @kind = N'ExternalRaised', @payload = N'x'".to_owned()).await;
    schema
        .sql("UPDATE [$(schema)].orchestrator_queue SET visible_at_ms = 1 WHERE instance_id = N'\torphan';")
        .await;
    let purged = exec("purge_orphan_messages @older_than_ms = 1000".to_owned()).await;
    assert_eq!(purged[0][0].get("messages_deleted"), Some(1_i64));
}
