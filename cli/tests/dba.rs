//! A DBA who has only the binary: a whole story against an embedded server.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, Provider, SemverRange, TagFilter, WorkItem,
    current_build_version,
};
use duroxide::{ErrorDetails, Event, EventKind, PoisonMessageType};
use duroxide_sql::MssqlProvider;
use mssql_embedded::{Server, Trigger};

const LEASE: Duration = Duration::from_secs(60);

/// The binary with its arguments, on the server of the test.
fn tool(server: &Server, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_duroxide-sql"));
    command
        .args(arguments)
        .env("DATABASE_URL", server.connection_string())
        .env("DUROXIDE_SQL_SCHEMA", "orders")
        .env_remove("RUST_LOG");
    command
}

/// Runs the tool to its end; what it wrote, and its exit code.
async fn run(server: &Server, arguments: &[&str]) -> (i32, String) {
    let mut command = tool(server, arguments);
    let output = tokio::task::spawn_blocking(move || command.output());
    let Output {
        status,
        stdout,
        stderr,
    } = output.await.expect("the task ends").expect("the tool runs");
    let text = [stdout, stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    (status.code().expect("a code"), text.concat())
}

/// Runs the tool, which must end with this code and say all of these things.
async fn says(server: &Server, arguments: &[&str], code: i32, words: &[&str]) -> String {
    let (found, text) = run(server, arguments).await;
    println!("$ duroxide-sql {}\n{text}", arguments.join(" "));
    assert_eq!(found, code, "{arguments:?}: {text}");
    for word in words {
        assert!(
            text.contains(word),
            "{arguments:?} does not say {word:?}:\n{text}"
        );
    }
    text
}

fn event(instance: &str, event_id: u64, kind: EventKind) -> Event {
    Event::with_event_id(event_id, instance, 1, None, kind)
}

/// What the first turn of an instance leaves behind.
#[derive(Default)]
struct Turn {
    events: Vec<EventKind>,
    activities: Vec<WorkItem>,
    messages: Vec<WorkItem>,
    metadata: ExecutionMetadata,
}

async fn begin(provider: &MssqlProvider, instance: &str, turn: Turn) {
    let start = WorkItem::StartOrchestration {
        instance: instance.into(),
        orchestration: "Order".into(),
        input: "{}".into(),
        version: Some("1.0.0".into()),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        execution_id: 1,
    };
    let enqueued = provider.enqueue_for_orchestrator(start, None);
    enqueued.await.expect("enqueue");
    let fetched = provider.fetch_orchestration_item(LEASE, Duration::ZERO, None);
    let (item, token, _) = fetched.await.expect("fetch").expect("the start is ready");
    assert_eq!(item.instance, instance);
    let started = EventKind::OrchestrationStarted {
        name: "Order".into(),
        version: "1.0.0".into(),
        input: "{}".into(),
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        carry_forward_events: None,
        initial_custom_status: None,
    };
    let kinds = std::iter::once(started).chain(turn.events);
    let history = (1..)
        .zip(kinds)
        .map(|(id, kind)| event(instance, id, kind))
        .collect();
    let metadata = ExecutionMetadata {
        orchestration_name: Some("Order".into()),
        orchestration_version: Some("1.0.0".into()),
        ..turn.metadata
    };
    let (activities, messages) = (turn.activities, turn.messages);
    let ack =
        provider.ack_orchestration_item(&token, 1, history, activities, messages, metadata, vec![]);
    ack.await.expect("ack");
}

fn ended(status: &str, kind: EventKind) -> Turn {
    Turn {
        events: vec![kind],
        metadata: ExecutionMetadata {
            status: Some(status.into()),
            output: Some("the outcome".into()),
            ..ExecutionMetadata::default()
        },
        ..Turn::default()
    }
}

fn charge(instance: &str, tag: Option<&str>) -> Turn {
    let tag = tag.map(str::to_owned);
    Turn {
        events: vec![EventKind::ActivityScheduled {
            name: "Charge".into(),
            input: "{}".into(),
            session_id: None,
            tag: tag.clone(),
        }],
        activities: vec![WorkItem::ActivityExecute {
            instance: instance.into(),
            execution_id: 1,
            id: 2,
            name: "Charge".into(),
            input: "{}".into(),
            session_id: None,
            tag,
        }],
        ..Turn::default()
    }
}

fn cancel(instance: &str) -> WorkItem {
    WorkItem::CancelInstance {
        instance: instance.into(),
        reason: "x".into(),
    }
}

/// One instance stuck in each way that there is.
async fn get_stuck(provider: &MssqlProvider) {
    begin(provider, "untagged", charge("untagged", None)).await;
    begin(provider, "tagged", charge("tagged", Some("gpu"))).await;
    begin(provider, "held", charge("held", Some("cpu"))).await;
    let cpu = TagFilter::Tags(["cpu".to_owned()].into());
    let held = provider.fetch_work_item(LEASE * 60, Duration::ZERO, None, &cpu);
    held.await.expect("fetch").expect("the activity is ready");
    let waits = Turn {
        events: vec![EventKind::ExternalSubscribed {
            name: "Approval".into(),
        }],
        ..Turn::default()
    };
    begin(provider, "approval", waits).await;
    let poison = EventKind::OrchestrationFailed {
        details: ErrorDetails::Poison {
            attempt_count: 11,
            max_attempts: 10,
            message_type: PoisonMessageType::Orchestration {
                instance: "poisoned".into(),
                execution_id: 1,
            },
            message: "{}".into(),
        },
    };
    begin(provider, "poisoned", ended("Failed", poison)).await;
    let mut unsupported = current_build_version();
    unsupported.major += 9;
    let pinned = Turn {
        metadata: ExecutionMetadata {
            pinned_duroxide_version: Some(unsupported),
            ..ExecutionMetadata::default()
        },
        ..Turn::default()
    };
    begin(provider, "pinned", pinned).await;
    for message in [cancel("pinned"), cancel("orphan")] {
        let enqueued = provider.enqueue_for_orchestrator(message, None);
        enqueued.await.expect("enqueue");
    }
    let ours = SemverRange::new(current_build_version(), current_build_version());
    let filter = DispatcherCapabilityFilter {
        supported_duroxide_versions: vec![ours],
    };
    let nothing = provider.fetch_orchestration_item(LEASE, Duration::ZERO, Some(&filter));
    assert!(nothing.await.expect("fetch").is_none());
}

/// Everything in the database that an installation could leave behind.
async fn catalogue(server: &Server) -> String {
    let operator = MssqlProvider::builder(server.connection_string())
        .operator()
        .await
        .expect("connects");
    drop(operator);
    // The engine's own catalogue, as T-SQL sees it, summed up in an error's text.
    let text = "DECLARE @m NVARCHAR(2048) = CONCAT(\
                (SELECT COUNT(*) FROM sys.objects), N' ', (SELECT COUNT(*) FROM sys.schemas), N' ', \
                (SELECT COUNT(*) FROM sys.database_principals), N' ', \
                (SELECT COUNT(*) FROM sys.database_permissions)); THROW 51099, @m, 1;";
    let error = server.controls().execute("master", text);
    error.expect_err("the batch throws").to_string()
}

/// The whole story.
#[tokio::test]
async fn a_dba_installs_watches_repairs_and_removes() {
    let server = Server::builder().start().expect("the server starts");
    let before = catalogue(&server).await;

    says(
        &server,
        &["doctor"],
        3,
        &[
            "bad  schema",
            "is not installed",
            "ok   compatibility",
            "round trip",
        ],
    )
    .await;
    says(&server, &["verify"], 3, &["is not installed"]).await;
    says(
        &server,
        &["install"],
        0,
        &["[orders] is at release", "orders_runtime"],
    )
    .await;
    says(&server, &["verify"], 0, &["is what this release needs"]).await;
    says(&server, &["doctor"], 0, &["ok   schema"]).await;
    says(&server, &["status"], 0, &["instances   none"]).await;
    says(&server, &["stuck"], 0, &["nothing is stuck"]).await;

    let provider = MssqlProvider::builder(server.connection_string())
        .schema("orders")
        .build()
        .await
        .expect("the provider starts");
    get_stuck(&provider).await;
    server.controls().advance(Duration::from_secs(600));

    let stuck = says(&server, &["stuck", "--all"], 3, &[]).await;
    for (instance, why) in [
        (
            "untagged",
            "activity Charge: ready, and nobody has taken it",
        ),
        ("tagged", "no worker takes tag \"gpu\"; start one that does"),
        ("held", "activity Charge: worker "),
        (
            "approval",
            "waits for event \"Approval\", which nobody has raised",
        ),
        ("poisoned", "poisoned: failed at"),
        ("pinned", "and no runtime supports that version; start one"),
        (
            "orphan",
            "message CancelInstance for an instance that was never started",
        ),
    ] {
        let line = stuck
            .lines()
            .find(|line| line.starts_with(&format!("{instance} ")));
        let line = line.unwrap_or_else(|| panic!("nothing about {instance}:\n{stuck}"));
        assert!(line.contains(why), "{line}");
    }
    says(
        &server,
        &["status"],
        0,
        &[
            "activities  1 ready, 0 held with tag gpu",
            "leases      0 turns, 1 activities",
        ],
    )
    .await;
    says(
        &server,
        &["list", "--state", "Failed"],
        0,
        &["poisoned", "Poison"],
    )
    .await;
    says(
        &server,
        &["show", "tagged"],
        0,
        &[
            "activity   Charge with tag gpu",
            "open",
            "tag_without_worker",
            "turns          1 by worker",
        ],
    )
    .await;
    says(
        &server,
        &["show", "nobody"],
        1,
        &["there is no instance \"nobody\""],
    )
    .await;
    let json = says(&server, &["list", "--json", "--prefix", "appr"], 0, &[]).await;
    let rows: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(rows[0]["instance_id"], "approval");

    says(
        &server,
        &["raise", "approval", "Approval", "{}"],
        0,
        &["on its way"],
    )
    .await;
    says(&server, &["cancel", "untagged"], 0, &["asked to stop"]).await;
    says(&server, &["cancel", "nobody"], 1, &["instance not found"]).await;
    says(&server, &["cancel", "poisoned"], 1, &["has finished"]).await;
    says(&server, &["orphans"], 0, &["orphan", "CancelInstance"]).await;
    says(
        &server,
        &["orphans", "--purge-older-than", "5m"],
        0,
        &["deleted 1 messages for 1 instances"],
    )
    .await;
    says(&server, &["delete", "tagged"], 1, &["running"]).await;
    says(
        &server,
        &["delete", "tagged", "--force"],
        0,
        &["deleted 1 instances"],
    )
    .await;
    // What is left has messages waiting, and would be fetched instead of what follows.
    for instance in ["approval", "untagged", "pinned", "held"] {
        says(
            &server,
            &["delete", instance, "--force"],
            0,
            &["deleted 1 instances"],
        )
        .await;
    }

    purge(&server, &provider).await;

    drop(provider);
    says(
        &server,
        &["uninstall"],
        1,
        &["repeat the command with --yes"],
    )
    .await;
    says(
        &server,
        &["uninstall", "--yes"],
        0,
        &["[orders] is removed"],
    )
    .await;
    assert_eq!(catalogue(&server).await, before);
}

/// A purge that is killed half-way has deleted whole instances, and the next one does the rest.
async fn purge(server: &Server, provider: &MssqlProvider) {
    for nth in 0..6 {
        let done = EventKind::OrchestrationCompleted { output: "1".into() };
        begin(provider, &format!("old-{nth}"), ended("Completed", done)).await;
    }
    server.controls().advance(Duration::from_secs(31 * 86_400));
    let done = EventKind::OrchestrationCompleted { output: "1".into() };
    begin(provider, "young", ended("Completed", done)).await;
    says(
        server,
        &["purge", "--older-than", "30d", "--dry-run"],
        0,
        &["7 trees"],
    )
    .await;

    let third = Trigger::request().of("delete_instance_bulk").after(1);
    let pause = server.controls().pause(third);
    let mut child = tool(server, &["purge", "--older-than", "30d", "--batch", "2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the tool starts");
    let paused = tokio::time::timeout(Duration::from_secs(60), pause.paused());
    paused.await.expect("the second batch begins");
    child.kill().expect("the tool is killed");
    child.wait().expect("the tool ends");
    pause.release();

    let resumed = [
        "purge",
        "--older-than",
        "30d",
        "--batch",
        "2",
        "--per-second",
        "1000",
    ];
    let text = says(server, &resumed, 0, &["deleted "]).await;
    assert!(!text.contains("deleted 0 instances"), "{text}");
    assert!(
        !text.contains("deleted 7 instances"),
        "the first batch was kept: {text}"
    );
    says(
        server,
        &["purge", "--older-than", "30d"],
        0,
        &["deleted 0 instances"],
    )
    .await;
    says(server, &["list"], 0, &["young"]).await;
}

/// Help, completions and scripts need no server; a wrong line is told from a failure.
/// A connection string without its `--url` is refused like any other word, and its password is not shown.
#[test]
fn connection_string_in_the_wrong_place_is_not_shown() {
    let string = "server=db;user id=sa;password=hunter2";
    for arguments in [&[string, "status"][..], &["status", string]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duroxide-sql"));
        let output = command.args(arguments).output().expect("the tool runs");
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(
            text.contains("--url") && !text.contains("hunter2"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn without_a_server_the_tool_explains_itself() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_duroxide-sql"));
        let output = command
            .args(arguments)
            .env_remove("DATABASE_URL")
            .env_remove("DUROXIDE_SQL_SCHEMA")
            .output()
            .expect("the tool runs");
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    };
    let (code, text) = run(&["--help"]);
    assert_eq!(code, Some(0));
    assert!(
        text.contains("Exit codes:") && text.contains("stuck"),
        "{text}"
    );
    let (code, text) = run(&["completions", "bash"]);
    assert_eq!(code, Some(0));
    assert!(
        text.contains("complete -F") && text.contains("purge"),
        "{text}"
    );
    let (code, text) = run(&["script", "--schema", "orders"]);
    assert_eq!(code, Some(0));
    assert!(
        text.contains("CREATE OR ALTER VIEW [orders].v_instances"),
        "no views"
    );
    let (code, text) = run(&["script", "--schema", "sys"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("reserved by SQL Server"), "{text}");
    let (code, text) = run(&["status"]);
    assert_eq!(code, Some(1));
    assert!(text.contains("give --url or set DATABASE_URL"), "{text}");
    let (code, _) = run(&["stuk"]);
    assert_eq!(code, Some(2));
}
