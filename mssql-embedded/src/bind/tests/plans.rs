//! Which plans are chosen.

use super::{plan, query, scans};
use crate::plan::{BoundKind, Purpose};

#[test]
fn a_dequeue_seeks_in_order_and_does_not_sort() {
    assert_eq!(
        plan(
            "DECLARE @now BIGINT, @id BIGINT
             SELECT TOP (1) @id = id FROM queue WITH (UPDLOCK, ROWLOCK, READPAST)
             WHERE not_before_ms <= @now ORDER BY not_before_ms, id"
        ),
        "top(seek queue.ix_ready(<))"
    );
}

#[test]
fn a_dequeue_with_a_subquery_tests_it_above_the_scan() {
    assert_eq!(
        plan(
            "DECLARE @now BIGINT
             SELECT TOP (1) id FROM queue q WHERE not_before_ms <= @now
             AND NOT EXISTS (SELECT 1 FROM instances i WHERE i.id = q.instance AND i.execution > 3)
             ORDER BY not_before_ms, id"
        ),
        "top(filter[not exists seek instances.pk(=1) where](seek queue.ix_ready(<)))"
    );
}

#[test]
fn an_index_is_read_backwards_for_a_descending_order() {
    assert_eq!(
        plan("SELECT TOP (1) id FROM queue ORDER BY not_before_ms DESC, id DESC"),
        "top(scan queue.ix_ready back)"
    );
    assert_eq!(
        plan("SELECT TOP (1) id FROM queue ORDER BY not_before_ms DESC, id"),
        "top(sort(scan queue.pk_queue))"
    );
}

#[test]
fn equality_prefixes_make_order_of_the_rest_free() {
    assert_eq!(
        plan(
            "DECLARE @i NVARCHAR(200) SELECT data FROM history WHERE instance = @i AND execution = 1 ORDER BY event"
        ),
        "seek history.pk_history(=2)"
    );
    assert_eq!(
        plan("DECLARE @i NVARCHAR(200) SELECT MAX(execution) FROM history WHERE instance = @i"),
        "group(seek history.pk_history(=1))"
    );
}

#[test]
fn a_full_unique_key_beats_everything() {
    assert_eq!(
        plan(
            "DECLARE @id BIGINT SELECT body FROM queue WHERE id = @id AND instance = N'a' AND not_before_ms < 5"
        ),
        "seek queue.pk_queue(=1) where"
    );
}

#[test]
fn filtered_indexes_serve_only_queries_that_imply_the_filter() {
    assert_eq!(
        plan("SELECT id FROM queue WHERE tag = N'x' AND not_before_ms <= 10"),
        "seek queue.ix_tagged(=1<)"
    );
    assert_eq!(
        plan("SELECT id FROM queue WHERE tag IS NULL"),
        "scan queue.pk_queue where"
    );
}

#[test]
fn integers_of_any_width_seek_and_text_of_another_family_does_not() {
    assert_eq!(
        plan("DECLARE @e BIGINT SELECT data FROM history WHERE instance = N'a' AND execution = @e"),
        "seek history.pk_history(=2)"
    );
    assert_eq!(
        plan("SELECT id FROM queue WHERE id = 2147483648"),
        "seek queue.pk_queue(=1)"
    );
    assert_eq!(
        plan("SELECT id FROM instances WHERE id = 'a'"),
        "seek instances.pk(=1)"
    );
    assert_eq!(
        plan("SELECT id FROM instances WHERE id = N'a' COLLATE Latin1_General_CI_AS"),
        "scan instances.pk where"
    );
}

#[test]
fn a_between_is_a_range() {
    assert_eq!(
        plan("SELECT id FROM queue WHERE not_before_ms BETWEEN 1 AND 5"),
        "seek queue.ix_ready(><)"
    );
}

/// A loop over a table variable by its key must not sort what is left of it at every step.
#[test]
fn stepping_through_a_table_variable_does_not_sort() {
    let step = |order: &str| {
        plan(&format!(
            "DECLARE @ids TABLE (id INT NOT NULL PRIMARY KEY)
             SELECT TOP (1) id FROM @ids WHERE id > 3 ORDER BY id {order}"
        ))
    };
    assert_eq!(step(""), "top(seek @ids(>))");
    assert_eq!(step("DESC"), "top(seek @ids(>) back)");
}

#[test]
fn a_table_variable_drives_a_join_into_an_index() {
    assert_eq!(
        plan(
            "DECLARE @ids TABLE (id NVARCHAR(100) COLLATE Latin1_General_100_BIN2 NOT NULL)
             SELECT h.event FROM history h JOIN @ids x ON x.id = h.instance"
        ),
        "loop(scan @ids, seek history.pk_history(=1))"
    );
}

#[test]
fn json_rows_drive_a_join_and_tables_without_an_index_are_hashed() {
    assert_eq!(
        plan(
            "DECLARE @j NVARCHAR(MAX)
             SELECT q.id FROM OPENJSON(@j) WITH (id BIGINT '$.id') j JOIN queue q ON q.id = j.id"
        ),
        "loop(openjson, seek queue.pk_queue(=1))"
    );
    assert_eq!(
        plan("SELECT i.id FROM instances i JOIN heap h ON h.a = i.execution"),
        "hash(scan instances.pk, scan heap.heap)"
    );
}

#[test]
fn in_lists_and_uncorrelated_in_queries_are_looked_up() {
    assert_eq!(
        plan("SELECT execution FROM instances WHERE id IN (N'a', N'b')"),
        "loop(distinct(values), seek instances.pk(=1))"
    );
    assert_eq!(
        plan(
            "DECLARE @j NVARCHAR(MAX) DELETE FROM history WHERE instance IN
              (SELECT value COLLATE Latin1_General_100_BIN2 FROM OPENJSON(@j))"
        ),
        "loop(distinct(derived[openjson]), seek history.pk_history(=1))"
    );
}

#[test]
fn in_becomes_exists_with_a_seek_inside() {
    assert_eq!(
        plan(
            "SELECT 1 FROM heap WHERE a IN (SELECT execution FROM history h WHERE h.instance = N'x' AND h.event = heap.b)"
        ),
        "filter[exists seek history.pk_history(=3)](scan heap.heap)"
    );
    assert_eq!(
        plan("SELECT 1 FROM heap WHERE a NOT IN (SELECT b FROM heap x)"),
        "filter[not any scan heap.heap](scan heap.heap)"
    );
    assert_eq!(
        plan("SELECT 1 FROM instances WHERE id NOT IN (SELECT instance FROM queue)"),
        "filter[not exists seek queue.ix_instance(=1)](scan instances.pk)"
    );
}

#[test]
fn outer_joins_keep_their_sides_and_seek_on_the_right() {
    assert_eq!(
        plan(
            "SELECT q.id, i.status FROM queue q LEFT JOIN instances i ON i.id = q.instance WHERE q.id = 5"
        ),
        "left(seek queue.pk_queue(=1), seek instances.pk(=1))"
    );
    assert_eq!(
        plan(
            "SELECT q.id FROM queue q LEFT JOIN instances i ON i.id = q.instance WHERE i.id IS NULL"
        ),
        "filter[test](left(scan queue.pk_queue, seek instances.pk(=1)))"
    );
    assert_eq!(
        plan("SELECT i.id FROM heap h RIGHT JOIN instances i ON h.a = i.execution"),
        "left-hash(scan instances.pk, scan heap.heap)"
    );
    assert_eq!(
        plan("SELECT i.id FROM heap h FULL JOIN instances i ON h.a = i.execution"),
        "full(scan heap.heap, scan instances.pk)"
    );
}

#[test]
fn apply_reads_the_row_to_its_left() {
    assert_eq!(
        plan(
            "SELECT i.id, x.event FROM instances i CROSS APPLY
             (SELECT TOP (1) event FROM history h WHERE h.instance = i.id ORDER BY execution DESC, event DESC) x"
        ),
        "loop(scan instances.pk, derived[top(seek history.pk_history(=1) back)])"
    );
    assert_eq!(
        plan("SELECT q.id, j.[value] FROM queue q OUTER APPLY OPENJSON(q.body) j"),
        "left(scan queue.pk_queue, openjson)"
    );
}

#[test]
fn ctes_views_and_derived_tables_are_bound_where_they_are_named() {
    assert_eq!(
        plan("WITH c AS (SELECT id FROM instances) SELECT a.id FROM c a, c b"),
        "loop(scan instances.pk, scan instances.pk)"
    );
    assert_eq!(plan("SELECT id FROM running"), "scan instances.pk where");
    assert_eq!(
        plan(
            "WITH t AS (SELECT id, 0 AS depth FROM instances WHERE id = N'a' UNION ALL
             SELECT i.id, t.depth + 1 FROM instances i JOIN t ON i.parent = t.id) SELECT id FROM t"
        ),
        "recursive[seek instances.pk(=1); hash(working, scan instances.pk)]"
    );
}

#[test]
fn set_operators_distinct_and_windows_nest_as_written() {
    assert_eq!(
        plan("SELECT id FROM instances UNION SELECT parent FROM instances ORDER BY id"),
        "sort(distinct(concat[scan instances.pk; scan instances.pk]))"
    );
    assert_eq!(
        plan("SELECT a FROM heap EXCEPT SELECT b FROM heap"),
        "set[scan heap.heap; scan heap.heap]"
    );
    assert_eq!(
        plan("SELECT DISTINCT status FROM instances ORDER BY status"),
        "sort(distinct(compute(scan instances.pk)))"
    );
    assert_eq!(
        plan("SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) FROM heap"),
        "window(scan heap.heap)"
    );
    assert_eq!(
        plan("SELECT id FROM queue ORDER BY id OFFSET 5 ROWS FETCH NEXT 2 ROWS ONLY"),
        "offset(scan queue.pk_queue)"
    );
    assert_eq!(
        plan("SELECT id FROM instances FOR JSON PATH"),
        "json[scan instances.pk]"
    );
}

#[test]
fn conditions_without_columns_are_tested_before_the_table_is_read() {
    assert_eq!(
        plan("DECLARE @go BIT SELECT id FROM queue WHERE @go = 1 AND id = 7"),
        "loop(filter[test](once), seek queue.pk_queue(=1))"
    );
}

#[test]
fn hints_choose_the_index() {
    assert_eq!(
        plan("SELECT id FROM queue WITH (INDEX(ix_ready)) WHERE id = 5"),
        "scan queue.ix_ready where"
    );
    assert_eq!(
        plan("SELECT id FROM queue WITH (FORCESCAN) WHERE id = 5"),
        "scan queue.pk_queue where"
    );
}

#[test]
fn only_the_columns_that_are_read_are_needed() {
    let query = query("SELECT id FROM queue WHERE instance = N'a' AND locked = 1");
    let scans = scans(&query.root);
    assert_eq!(scans[0].needed, [0, 4]);
}

#[test]
fn the_target_of_an_update_reads_all_columns_and_has_a_locator() {
    let bound = super::bind(
        "UPDATE q SET locked = 1 OUTPUT inserted.id, deleted.locked FROM queue q
         JOIN instances i ON i.id = q.instance WHERE i.id = N'a'",
    )
    .unwrap();
    let BoundKind::Update(update) = bound.kind else {
        panic!("not an update")
    };
    let list = scans(&update.query.root);
    let target = list.iter().find(|s| s.purpose == Purpose::Modify).unwrap();
    assert_eq!(target.locator, Some(update.locator));
    assert_eq!(target.base, update.base);
    assert_eq!(target.needed.len(), 6);
    assert_eq!(
        super::shape::node(&update.query.root),
        "loop(seek instances.pk(=1), seek queue.ix_instance(=1))"
    );
    let output = update.output.unwrap();
    assert_eq!(
        (output.inserted, output.deleted),
        (Some(update.inserted), Some(update.base))
    );
    assert_eq!(
        output
            .columns
            .iter()
            .map(|c| c.name.as_str())
            .collect::<Vec<_>>(),
        ["id", "locked"]
    );
}

#[test]
fn correlation_is_known() {
    let outer = query(
        "SELECT (SELECT MAX(event) FROM history h WHERE h.instance = i.id), (SELECT MAX(event) FROM history) FROM instances i",
    );
    let flags: Vec<bool> = outer
        .output
        .iter()
        .map(|s| match s {
            crate::plan::Scalar::Subquery(q) => q.correlated,
            _ => panic!("not a subquery"),
        })
        .collect();
    assert_eq!(flags, [true, false]);
    assert!(!outer.correlated);
}

#[test]
fn a_subquery_can_be_the_value_of_a_seek() {
    assert_eq!(
        plan("SELECT body FROM queue WHERE id = (SELECT MAX(event) FROM history)"),
        "seek queue.pk_queue(=1)"
    );
}

#[test]
fn listed_values_take_the_collation_of_the_column() {
    assert_eq!(
        plan("SELECT i.status FROM (VALUES (N'a'), (N'b')) v(x) JOIN instances i ON i.id = v.x"),
        "loop(derived[values], seek instances.pk(=1))"
    );
}

#[test]
fn an_outer_join_clears_the_locator_of_a_target_without_a_match() {
    let bound = super::bind(
        "UPDATE i SET execution = 1 FROM queue q LEFT JOIN instances i ON i.id = q.instance",
    )
    .unwrap();
    let BoundKind::Update(update) = bound.kind else {
        panic!("not an update")
    };
    let crate::plan::Node::Loop { right_slots, .. } = &update.query.root else {
        panic!("not a loop")
    };
    assert!(right_slots.contains(&update.locator) && right_slots.contains(&update.base));
}

#[test]
fn a_condition_outside_of_a_simple_query_seeks_inside() {
    for sql in [
        "DECLARE @i NVARCHAR(200); WITH h AS (SELECT instance, data FROM history) SELECT data FROM h WHERE instance = @i",
        "DECLARE @i NVARCHAR(200) SELECT d.x FROM (SELECT instance AS i, data AS x FROM history) AS d WHERE d.i = @i",
        "DECLARE @i NVARCHAR(200); WITH a AS (SELECT * FROM history), b (k, v) AS (SELECT instance, data FROM a)
         SELECT v FROM b WHERE k = @i",
    ] {
        assert_eq!(plan(sql), "seek history.pk_history(=1)", "{sql}");
    }
}
