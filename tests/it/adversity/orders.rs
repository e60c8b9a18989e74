//! Lists come in the order that is promised, on servers that give rows in any other.

use std::time::Duration;

use tiberius::Row;

use super::bench::{Bench, turn};
use crate::support::setting::Setting;

async fn rows(bench: &mut Bench, call: &str) -> Vec<Row> {
    let sets = bench.side.run(&format!("EXEC [$(schema)].{call};")).await;
    let mut sets = sets.unwrap_or_else(|number| panic!("{number} from {call}"));
    sets.swap_remove(0)
}

async fn ids(bench: &mut Bench, call: &str) -> Vec<String> {
    let rows = rows(bench, call).await;
    let ids = rows.iter().map(|row| row.get::<&str, _>("instance_id"));
    ids.map(|id| id.expect("an id").to_owned()).collect()
}

/// Instances and children by name or by age, executions by number, a tree level by level; and of more
/// than wanted the oldest are deleted and pruned first.
#[tokio::test]
async fn lists_come_in_their_order() {
    for setting in Setting::each(0..3, &[]).map(Setting::with_adversary) {
        let mut bench = Bench::new(setting).await;
        bench.prepare(&[]).await;
        // Neither the order of their names nor its reverse.
        let children = ["c3", "c1", "c5", "c2", "c4"];
        for (n, name) in ["root"].iter().chain(&children).enumerate() {
            let more = match n {
                0 => "",
                _ => ", @parent_instance_id = N'root'",
            };
            for (token, call) in turn(name, &format!("a{n}"), more).iter().enumerate() {
                let text = format!("EXEC [$(schema)].{call};");
                let done = bench.side.run(&text).await;
                done.unwrap_or_else(|number| panic!("{number} from step {token} of {name}"));
            }
            bench.controls.advance(Duration::from_millis(5));
        }
        let newest = ["c4", "c2", "c5", "c1", "c3", "root"];
        let found = ids(&mut bench, "list_instances").await;
        assert_eq!(found, newest, "{setting:?}: list_instances");
        let found = ids(&mut bench, "list_instances_by_status @status = N'Running'").await;
        assert_eq!(found, newest, "{setting:?}: list_instances_by_status");
        let sorted = ["c1", "c2", "c3", "c4", "c5"];
        let found = ids(&mut bench, "list_children @instance_id = N'root'").await;
        assert_eq!(found, sorted, "{setting:?}: list_children");
        let found = ids(&mut bench, "get_instance_tree @instance_id = N'root'").await;
        assert_eq!(found[0], "root", "{setting:?}: get_instance_tree");
        assert_eq!(found[1..], sorted, "{setting:?}: get_instance_tree");
        executions(&mut bench, setting).await;
        migrations(&mut bench, setting).await;
        limits(&mut bench, setting).await;
    }
}

async fn executions(bench: &mut Bench, setting: Setting) {
    let add = "INSERT INTO [$(schema)].executions (instance_id, execution_id, status, started_at_ms, event_count)
        VALUES (N'root', 4, N'Running', 0, 0), (N'root', 2, N'Running', 0, 0), (N'root', 3, N'Running', 0, 0);";
    bench.side.run(add).await.expect("executions are added");
    let found = rows(bench, "list_executions @instance_id = N'root'").await;
    let found: Vec<_> = found
        .iter()
        .map(|row| row.get::<i64, _>("execution_id"))
        .collect();
    let sorted = [1, 2, 3, 4].map(Some);
    assert_eq!(found, sorted, "{setting:?}: list_executions");
}

/// As an installer of later releases will find them.
async fn migrations(bench: &mut Bench, setting: Setting) {
    let add = "INSERT INTO [$(schema)].schema_migrations (migration_number, migration_name, checksum, applied_at_ms, release)
        VALUES (3, N'c', N'', 0, N''), (2, N'b', N'', 0, N''), (4, N'd', N'', 0, N'');";
    bench.side.run(add).await.expect("migrations are added");
    for _ in 0..4 {
        let found = rows(bench, "get_schema_state").await;
        let found = found
            .iter()
            .map(|row| row.get::<i32, _>("migration_number"));
        let sorted = [1, 2, 3, 4].map(Some);
        assert_eq!(
            found.collect::<Vec<_>>(),
            sorted,
            "{setting:?}: get_schema_state"
        );
    }
}

async fn limits(bench: &mut Bench, setting: Setting) {
    let finish = "UPDATE [$(schema)].instances SET status = N'Completed', parent_instance_id = NULL;
        UPDATE [$(schema)].executions SET status = N'Completed', completed_at_ms = 1;
        INSERT INTO [$(schema)].executions (instance_id, execution_id, status, started_at_ms, completed_at_ms, event_count)
        SELECT i.instance_id, 9, N'Completed', 0, 1, 0 FROM [$(schema)].instances AS i;
        UPDATE [$(schema)].instances SET current_execution_id = 9;";
    bench.side.run(finish).await.expect("all are finished");
    rows(bench, "prune_executions_bulk @keep_last = 1, @limit = 2").await;
    let pruned = "SELECT COUNT(*) AS n FROM [$(schema)].instances AS i WHERE i.instance_id IN (N'root', N'c3')
        AND NOT EXISTS (SELECT 1 FROM [$(schema)].executions AS e WHERE e.instance_id = i.instance_id AND e.execution_id < 9);";
    let pruned = bench.side.number(pruned).await;
    assert_eq!(pruned, 2, "{setting:?}: prune_executions_bulk");
    rows(bench, "delete_instance_bulk @limit = 3").await;
    let left = ids(bench, "list_instances").await;
    let newest = ["c4", "c2", "c5"];
    assert_eq!(left, newest, "{setting:?}: delete_instance_bulk");
}
