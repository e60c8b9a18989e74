//! The order of rows. Only ORDER BY on the statement itself promises one ("SELECT - ORDER BY clause"): not an
//! index, not a table variable, not OPENJSON, not OUTPUT, and not a variable assigned row by row.

use crate::adversary::{adversary, answers, table};

/// Sources without ORDER BY come in many orders, with it in one.
#[tokio::test]
async fn only_order_by_promises_an_order() {
    let server = adversary(3).start().unwrap();
    let mut session = table(&server).await;
    let sources = [
        (
            "SELECT value FROM OPENJSON('[\"1\",\"2\",\"3\",\"4\"]')",
            "value",
        ),
        (
            "SELECT CAST(id AS VARCHAR(10)) AS c FROM dbo.t WHERE id < 6",
            "c",
        ),
        (
            "SELECT CAST(x AS VARCHAR(10)) AS c FROM (VALUES (1), (2), (3), (4)) AS v (x)",
            "c",
        ),
    ];
    for (source, column) in sources {
        let orders = answers(&mut session, source).await;
        assert!(orders.len() > 1, "{source}: {orders:?}");
        let orders = answers(&mut session, &format!("{source} ORDER BY {column}")).await;
        assert_eq!(orders.len(), 1, "{source}: {orders:?}");
    }
    let variable = "DECLARE @t TABLE (x INT NOT NULL);
        INSERT INTO @t (x) VALUES (1), (2), (3);
        SELECT CAST(x AS VARCHAR(10)) FROM @t";
    assert!(answers(&mut session, variable).await.len() > 1);
    // Through its index as well, forwards and backwards.
    let keyed = "DECLARE @t TABLE (x INT NOT NULL PRIMARY KEY);
        INSERT INTO @t (x) VALUES (2), (4), (1), (3);
        SELECT CAST(x AS VARCHAR(10)) FROM @t WHERE x > 1";
    let orders = answers(&mut session, keyed).await;
    assert!(
        orders.contains("2,3,4") && orders.contains("4,3,2"),
        "{orders:?}"
    );
    let ordered = answers(&mut session, &format!("{keyed} ORDER BY x DESC")).await;
    assert_eq!(ordered.len(), 1, "{ordered:?}");
    let output = "UPDATE dbo.t SET v = v OUTPUT CAST(inserted.id AS VARCHAR(10)) WHERE id < 4";
    assert!(answers(&mut session, output).await.len() > 1);
    let last = "DECLARE @last INT; SELECT @last = id FROM dbo.t; SELECT CAST(@last AS VARCHAR(10))";
    assert!(answers(&mut session, last).await.len() > 1);
    // What ORDER BY promises of an INSERT: identity values in that order ("INSERT", limitations and restrictions).
    session
        .run("CREATE TABLE dbo.i (n INT NOT NULL IDENTITY, x INT NOT NULL)")
        .await
        .unwrap();
    let numbered = "TRUNCATE TABLE dbo.i;
        INSERT INTO dbo.i (x) SELECT x FROM (VALUES (3), (1), (4), (2)) AS v (x) ORDER BY x;
        SELECT CAST(x AS VARCHAR(10)) FROM dbo.i ORDER BY n";
    assert_eq!(answers(&mut session, numbered).await.len(), 1);
    let ordered = "DECLARE @last INT; SELECT TOP (1) @last = id FROM dbo.t ORDER BY id DESC;
        SELECT CAST(@last AS VARCHAR(10))";
    assert_eq!(answers(&mut session, ordered).await.len(), 1);
}
