//! Turns. Which session runs next is nobody's to promise: SQL Server's schedulers share processors among workers, which
//! yield when they wait and when their time is over ("Thread and task architecture guide",
//! docs/relational-databases/thread-and-task-architecture-guide.md). So other sessions may come between any two statements.

use mssql_embedded::Question;

use crate::adversary::adversary;
use crate::support::{Session, until};

/// Turns are given at statements that lock nothing, and follow from the seed.
#[tokio::test]
async fn others_may_come_between_any_two_statements() {
    let mut games = Vec::new();
    for seed in [71, 71, 72] {
        let server = adversary(seed).start().unwrap();
        let mut session = Session::open(&server).await;
        for _ in 0..100 {
            session
                .run("DECLARE @x INT = 1; SET @x += 1")
                .await
                .unwrap();
        }
        let decisions = server.controls().decisions();
        let turns = decisions
            .into_iter()
            .filter(|d| d.question == Question::Turn);
        // The first answer says whether somebody goes first, a second one how many.
        let given: Vec<u64> = turns
            .filter(|d| d.options == 4)
            .map(|d| d.statement)
            .collect();
        assert!(given.len() > 3, "seed {seed}: {given:?}");
        games.push(given);
    }
    assert_eq!(games[0], games[1]);
    assert_ne!(games[0], games[2]);
}

/// Two sessions on one row, some of whose statements wait for each other, and what they did in which order.
async fn game(seed: u64) -> (Vec<String>, Vec<i32>) {
    let server = adversary(seed).start().unwrap();
    let controls = server.controls();
    let mut first = Session::open(&server).await;
    let schema = "CREATE TABLE dbo.r (id INT NOT NULL PRIMARY KEY, v INT NOT NULL);
        INSERT INTO dbo.r (id, v) VALUES (1, 0), (2, 0);
        CREATE TABLE dbo.story (n INT IDENTITY PRIMARY KEY, who INT NOT NULL)";
    first.run(schema).await.unwrap();
    let players = [
        first,
        Session::open(&server).await,
        Session::open(&server).await,
    ];
    let spids = players.each_ref().map(|player| player.spid);
    controls.take_turns(&spids);
    let mut games = Vec::new();
    for (who, mut player) in players.into_iter().enumerate() {
        // One after the other, so that they come in the same order each time.
        until("those before it have come", || {
            controls.at_their_turns() == who
        })
        .await;
        let at_once = controls.clone();
        games.push(tokio::spawn(async move {
            for round in 0..10 {
                // Whoever waits longer than that gives up: time passes only when all of them wait.
                let batch = format!(
                    "SET LOCK_TIMEOUT 1000; DECLARE @r INT = {} % 2 + 1;
                     BEGIN TRY
                         BEGIN TRAN;
                         UPDATE dbo.r SET v += 1 WHERE id = @r;
                         INSERT INTO dbo.story (who) VALUES ({who});
                         UPDATE dbo.r SET v += 1 WHERE id = 3 - @r;
                         WAITFOR DELAY '00:00:00.5';
                         COMMIT;
                     END TRY
                     BEGIN CATCH
                         IF @@TRANCOUNT > 0 ROLLBACK;
                         INSERT INTO dbo.story (who) VALUES (-ERROR_NUMBER());
                     END CATCH",
                    who + round
                );
                player.run(&batch).await.unwrap();
            }
            at_once.leave_turns(player.spid);
            player
        }));
    }
    let mut last = None;
    for game in games {
        last = Some(game.await.unwrap());
    }
    let story = last
        .unwrap()
        .ints("SELECT who FROM dbo.story ORDER BY n")
        .await
        .unwrap();
    let decisions = controls.decisions().into_iter().filter(|d| d.session < 51);
    (decisions.map(|d| d.to_string()).collect(), story)
}

/// Sessions that take turns do the same in the same order when the seed is the same, whoever the machine would have let
/// go first: same decisions, same victims, same time-outs. Another seed plays another game.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_game_of_turns_is_repeated_by_its_seed() {
    let mut stories = Vec::new();
    for seed in 80..84 {
        let (decisions, story) = game(seed).await;
        assert!(decisions.len() > 100, "{}", decisions.len());
        assert_eq!(game(seed).await, (decisions, story.clone()), "seed {seed}");
        stories.push(story);
    }
    assert!(stories.iter().any(|story| *story != stories[0]));
    assert!(
        stories.concat().contains(&-1205),
        "nobody was a victim: {stories:?}"
    );
}

/// A session that waits for time, or whose client has gone, does not hold up the others.
#[tokio::test]
async fn turns_go_on_when_a_player_is_gone() {
    let server = adversary(85).start().unwrap();
    let mut stays = Session::open(&server).await;
    let goes = Session::open(&server).await;
    let controls = server.controls();
    controls.take_turns(&[stays.spid, goes.spid]);
    let before = controls.now_ms();
    drop(goes);
    stays.run("WAITFOR DELAY '01:00:00'").await.unwrap();
    assert_eq!(controls.now_ms() - before, 3_600_000);
}
