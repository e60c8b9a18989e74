//! The access path. Which index a query uses, and how, is the optimiser's choice and may change with every
//! compilation ("Query processing architecture guide", "Recompiling execution plans"); INDEX and FORCESEEK
//! hints bind it ("Table hints").

use crate::adversary::{adversary, answers, table};

/// The keys that a read locks.
fn locked_by(read: &str) -> String {
    format!(
        "BEGIN TRAN; DECLARE @b INT; {read};
         SELECT CONCAT(resource_type, resource_description) FROM sys.dm_tran_locks
         WHERE request_session_id = @@SPID AND resource_type = 'KEY' AND request_mode = 'U'
         ORDER BY resource_description;
         ROLLBACK;"
    )
}

/// Without a hint a query comes to its row through one index or another, and locks accordingly; a hint
/// leaves one way.
#[tokio::test]
async fn an_index_hint_binds_the_path() {
    let server = adversary(11).start().unwrap();
    let mut session = table(&server).await;
    let keys_only = "ALTER TABLE dbo.t SET (LOCK_ESCALATION = DISABLE)";
    session.run(keys_only).await.unwrap();
    let free = "SELECT @b = b FROM dbo.t WITH (UPDLOCK, ROWLOCK) WHERE b = 990";
    let ways = answers(&mut session, &locked_by(free)).await;
    assert!(ways.len() > 1, "{ways:?}");
    let bound =
        "SELECT @b = b FROM dbo.t WITH (INDEX(ix_t_b), FORCESEEK, UPDLOCK, ROWLOCK) WHERE b = 990";
    let ways = answers(&mut session, &locked_by(bound)).await;
    assert_eq!(ways.len(), 1, "{ways:?}");
}

/// Which statement left it open is known afterwards: none that names the index and how it is read, and none that has only
/// one way.
#[tokio::test]
async fn open_paths_are_known_by_their_statements() {
    let server = adversary(13).start().unwrap();
    let mut session = table(&server).await;
    let before = server.controls().open_paths().len();
    session
        .run(
            "CREATE PROCEDURE dbo.p AS
             BEGIN
                 DECLARE @b INT; DECLARE @v TABLE (a INT PRIMARY KEY, b INT UNIQUE);
                 SELECT @b = b FROM dbo.t WITH (INDEX(ix_t_b), FORCESEEK) WHERE b = 990;
                 SELECT @b = b FROM dbo.t WITH (INDEX(ix_t_b));
                 SELECT @b = b FROM @v WHERE a = 1 AND b = 1;
                 SELECT @b = b FROM dbo.t WITH (FORCESEEK) WHERE b = 990;
                 SELECT @b = b FROM dbo.t WITH (INDEX(ix_t_b)) WHERE b = 990;
                 SELECT @b = b FROM dbo.t WHERE b = 990;
             END",
        )
        .await
        .unwrap();
    session.run("EXEC dbo.p").await.unwrap();
    let paths = server.controls().open_paths();
    assert!(paths.len() >= before, "what was known stays known");
    let of_procedure = paths.iter().filter(|path| path.procedure == "p");
    let said: Vec<String> = of_procedure.map(ToString::to_string).collect();
    let expected = [
        "p, line 8: seek or scan for t",
        "p, line 9: which index for t",
    ];
    assert_eq!(said, expected);
}

/// Which statements lock entries of an index and then the rows is known: neither those that the index answers, nor those that
/// step over what is locked or read without locks.
#[tokio::test]
async fn detours_are_known_by_their_statements() {
    let server = adversary(14).start().unwrap();
    let mut session = table(&server).await;
    session
        .run(
            "CREATE PROCEDURE dbo.p AS
             BEGIN
                 DECLARE @b INT;
                 SELECT @b = id FROM dbo.t WITH (INDEX(ix_t_b), FORCESEEK) WHERE b = 990;
                 SELECT @b = id FROM dbo.t WITH (INDEX(ix_t_b), FORCESEEK, READPAST, READCOMMITTEDLOCK) WHERE b = 990 AND v = 1;
                 SELECT @b = v FROM dbo.t WITH (INDEX(ix_t_b), FORCESEEK, NOLOCK) WHERE b = 990;
                 SELECT @b = v FROM dbo.t WITH (INDEX(pk_t), FORCESEEK) WHERE id = 990;
                 SELECT @b = v FROM dbo.t WITH (INDEX(ix_t_b), FORCESEEK) WHERE b = 990;
                 SELECT @b = id FROM dbo.t WITH (INDEX(ix_t_b), FORCESEEK) WHERE b = 990 AND v = 1;
                 UPDATE q SET q.v = 2 FROM dbo.t AS q WITH (INDEX(ix_t_b), FORCESEEK) WHERE q.b = 990;
                 IF EXISTS (SELECT 1 FROM dbo.t WITH (INDEX(ix_t_b), FORCESEEK) WHERE b = 990 AND v = 1) SET @b = 1;
             END",
        )
        .await
        .unwrap();
    session.run("EXEC dbo.p").await.unwrap();
    let detours = server.controls().detours();
    let of_procedure = detours.iter().filter(|detour| detour.procedure == "p");
    let said: Vec<String> = of_procedure.map(ToString::to_string).collect();
    let on = "from ix_t_b on to the rows of t";
    let expected = [
        format!("p, line 8: {on}, with shared locks"),
        format!("p, line 9: {on}, with shared locks"),
        format!("p, line 10: {on}, with own locks"),
        format!("p, line 11: {on}, with shared locks"),
    ];
    assert_eq!(said, expected);
}

/// KEEPFIXED PLAN keeps a plan from new statistics: it changes only when it has left the cache, which is seldom.
/// RECOMPILE asks for a plan each time ("Query hints", docs/t-sql/queries/hints-transact-sql-query.md).
#[tokio::test]
async fn plans_are_kept_or_made_anew_as_hints_say() {
    let server = adversary(12).start().unwrap();
    let mut session = table(&server).await;
    let controls = server.controls();
    let mut changes = Vec::new();
    for option in ["", "OPTION (KEEPFIXED PLAN)", "OPTION (RECOMPILE)"] {
        let read = format!("SELECT b FROM dbo.t WHERE b = 990 {option}");
        let (mut last, mut changed) = (0, 0);
        for _ in 0..100 {
            let before = controls.counters();
            session.run(&read).await.unwrap();
            // A seek visits one row, a scan all.
            let visited = controls.counters().since(&before).total().stats.rows_read;
            changed += usize::from(visited != last);
            last = visited;
        }
        changes.push(changed);
    }
    assert!(changes[1] <= 10, "{changes:?}");
    assert!(changes[0] > 2 * changes[1], "{changes:?}");
    assert!(changes[2] > changes[0], "{changes:?}");
}

/// Whatever the path, the answer is the same.
#[tokio::test]
async fn every_path_gives_the_same_answer() {
    for seed in 0..5 {
        let server = adversary(seed).start().unwrap();
        let mut session = table(&server).await;
        let query = "SELECT CONCAT(x.id, ':', y.b) FROM dbo.t AS x JOIN dbo.t AS y ON y.b = x.b + 1
            WHERE x.b BETWEEN 970 AND 980 AND y.v = 0 ORDER BY x.id";
        let answers = answers(&mut session, query).await;
        assert_eq!(answers.len(), 1, "seed {seed}: {answers:?}");
    }
}

/// The same seed and the same statements give the same decisions, which can be read.
#[tokio::test]
async fn decisions_follow_from_the_seed() {
    let mut games = Vec::new();
    for seed in [5, 5, 6] {
        let server = adversary(seed).start().unwrap();
        let mut session = table(&server).await;
        session
            .run("UPDATE dbo.t SET v = 1 WHERE b < 980; SELECT b FROM dbo.t")
            .await
            .unwrap();
        let decisions = server.controls().decisions();
        assert!(!decisions.is_empty());
        games.push(decisions);
    }
    assert_eq!(games[0], games[1]);
    assert_ne!(games[0], games[2]);
}
