//! Deadlock victims. The lowest DEADLOCK_PRIORITY gives up, then who is cheapest to roll back, then anyone ("Deadlocks
//! guide", docs/relational-databases/sql-server-deadlocks-guide.md). The cost is SQL Server's own estimate: only
//! between who has written nothing and who has written is it foreseeable.

use mssql_embedded::Server;

use crate::adversary::adversary;
use crate::support::{Session, blocked, number, within};

/// Two tables with a row each.
async fn sessions(server: &Server) -> (Session, Session) {
    let mut first = Session::open(server).await;
    let tables = "CREATE TABLE dbo.a (id INT NOT NULL CONSTRAINT pk_a PRIMARY KEY, v INT NOT NULL);
        CREATE TABLE dbo.b (id INT NOT NULL CONSTRAINT pk_b PRIMARY KEY, v INT NOT NULL);
        INSERT INTO dbo.a (id, v) VALUES (1, 0); INSERT INTO dbo.b (id, v) VALUES (1, 0);
        ALTER TABLE dbo.a SET (LOCK_ESCALATION = DISABLE); ALTER TABLE dbo.b SET (LOCK_ESCALATION = DISABLE)";
    first.run(tables).await.unwrap();
    (first, Session::open(server).await)
}

fn write(table: &str) -> String {
    format!(
        "UPDATE x SET v += 1 FROM dbo.{table} AS x WITH (INDEX(pk_{table}), FORCESEEK, ROWLOCK) WHERE id = 1"
    )
}

fn read(table: &str) -> String {
    format!(
        "SELECT id FROM dbo.{table} WITH (INDEX(pk_{table}), FORCESEEK, ROWLOCK, XLOCK) WHERE id = 1"
    )
}

/// Lets two sessions lock each other out; true if the first is the victim.
async fn first_loses(
    server: &Server,
    (first, second): (&mut Option<Session>, &mut Session),
    (begin_first, begin_second): (&str, &str),
) -> bool {
    let mut one = first.take().unwrap();
    one.run(&format!("BEGIN TRAN; {begin_first}"))
        .await
        .unwrap();
    second
        .run(&format!("BEGIN TRAN; {begin_second}"))
        .await
        .unwrap();
    let spid = one.spid;
    let waiting = one.spawn(write("b"));
    blocked(&server.controls(), spid).await;
    let answer = within(second.run(&write("a"))).await;
    let second_lost = answer.is_err();
    if second_lost {
        assert_eq!(number(answer), 1205);
    } else {
        second.run("COMMIT").await.unwrap();
    }
    let (mut one, answer) = within(waiting).await.unwrap();
    assert_eq!(answer.is_err(), !second_lost);
    if second_lost {
        one.run("COMMIT").await.unwrap();
    } else {
        assert_eq!(number(answer), 1205);
    }
    *first = Some(one);
    !second_lost
}

/// Among equals either may be the victim.
#[tokio::test]
async fn either_of_two_equals_is_the_victim() {
    let server = adversary(61).start().unwrap();
    let (first, mut second) = sessions(&server).await;
    let mut first = Some(first);
    let mut lost = [false; 2];
    for _ in 0..200 {
        let begin = (write("a"), write("b"));
        let who = first_loses(&server, (&mut first, &mut second), (&begin.0, &begin.1)).await;
        lost[usize::from(who)] = true;
        if lost == [true; 2] {
            return;
        }
    }
    panic!("the first lost: {}, the second: {}", lost[1], lost[0]);
}

/// Priority decides before anything else, and who has written nothing gives up before who has written.
#[tokio::test]
async fn priority_and_work_done_decide() {
    let server = adversary(62).start().unwrap();
    let (first, mut second) = sessions(&server).await;
    let mut first = Some(first);
    for _ in 0..20 {
        let cheap = (read("a"), write("b"));
        assert!(first_loses(&server, (&mut first, &mut second), (&cheap.0, &cheap.1)).await);
        let dear = (write("a"), read("b"));
        assert!(!first_loses(&server, (&mut first, &mut second), (&dear.0, &dear.1)).await);
    }
    let low = "SET DEADLOCK_PRIORITY LOW";
    second.run(low).await.unwrap();
    for _ in 0..20 {
        let cheap = (read("a"), write("b"));
        assert!(!first_loses(&server, (&mut first, &mut second), (&cheap.0, &cheap.1)).await);
    }
}
