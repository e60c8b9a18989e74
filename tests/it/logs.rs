//! Log lines that operators look for.

use duroxide::providers::{Provider, WorkItem};

use crate::support::database::TestSchema;
use crate::support::items::{create, fetch};
use crate::support::log::Log;
use crate::support::wait;

/// The line with all of these words, if it was logged.
fn line(log: &Log, words: &[&str]) -> Option<String> {
    let text = log.text();
    let mut lines = text.lines();
    let found = lines.find(|line| words.iter().all(|word| line.contains(word)));
    found.map(str::to_owned)
}

/// Messages for an instance that was never started are dropped, and that is told.
#[tokio::test]
async fn dropped_orphans_are_logged() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    let (log, _guard) = Log::catch();
    let told = || async {
        let message = WorkItem::QueueMessage {
            instance: "never-started".into(),
            name: "queue".into(),
            data: "secret payload".into(),
        };
        let sent = provider.enqueue_for_orchestrator(message, None).await;
        sent.expect("the message is taken");
        assert!(fetch(&provider).await.is_none());
        let words = ["WARN", "dropped queue messages", "never-started"];
        line(&log, &words).is_some()
    };
    wait::until("the drop was logged", told).await;
    assert!(!log.text().contains("secret payload"));
    let left = "SELECT COUNT(*) FROM [$(schema)].orchestrator_queue;";
    assert_eq!(schema.number(left).await, 0);
}

/// A history that cannot be read is told with its instance, each time that it is fetched.
#[tokio::test]
async fn unreadable_history_is_logged() {
    let schema = TestSchema::new();
    let provider = schema.provider().await;
    create(&provider, "order").await;
    let spoil = "UPDATE [$(schema)].history SET payload = N'not JSON', appended_by = NEWID();";
    schema.sql(spoil).await;
    let event = WorkItem::ExternalRaised {
        instance: "order".into(),
        name: "event".into(),
        data: String::new(),
    };
    let sent = provider.enqueue_for_orchestrator(event, None).await;
    sent.expect("the message is taken");
    let (log, _guard) = Log::catch();
    let told = || async {
        let (item, token, _) = fetch(&provider).await.expect("the message is ready");
        assert!(item.history_error.is_some());
        let given_back = provider.abandon_orchestration_item(&token, None, false);
        given_back.await.expect("given back");
        let words = ["WARN", "history or messages cannot be read", "order"];
        line(&log, &words).is_some()
    };
    wait::until("the damage was logged", told).await;
}
