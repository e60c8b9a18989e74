use super::*;
use duroxide::provider_validations as validations;
use duroxide::provider_validations::ProviderFactory;

struct Factory;

/// The lock of duroxide's validations.
const LOCK: Duration = Duration::from_millis(1_000);

#[async_trait::async_trait]
impl ProviderFactory for Factory {
    async fn create_provider(&self) -> Arc<dyn Provider> {
        Arc::new(Memory::default())
    }

    fn lock_timeout(&self) -> Duration {
        LOCK
    }
}

/// What duroxide demands of locks, queues and acks: without it a load would not be run honestly. Left out
/// is what needs management, key-values or sessions.
#[tokio::test]
async fn locks_and_queues_pass_the_validations_of_duroxide() {
    let factory = &Factory;
    validations::test_exclusive_instance_lock(factory).await;
    validations::test_lock_token_uniqueness(factory).await;
    validations::test_invalid_lock_token_rejection(factory).await;
    validations::test_concurrent_instance_fetching(factory).await;
    validations::test_completions_arriving_during_lock_blocked(factory).await;
    validations::test_cross_instance_lock_isolation(factory).await;
    validations::test_message_tagging_during_lock(factory).await;
    validations::test_ack_only_affects_locked_messages(factory).await;
    validations::test_multi_threaded_no_duplicate_processing(factory).await;
    validations::test_worker_queue_fifo_ordering(factory).await;
    validations::test_worker_peek_lock_semantics(factory).await;
    validations::test_worker_ack_atomicity(factory).await;
    validations::test_lost_lock_token_handling(factory).await;
    validations::test_atomicity_failure_rollback(factory).await;
    validations::test_multi_operation_atomic_ack(factory).await;
    validations::test_lock_released_only_on_successful_ack(factory).await;
    validations::test_concurrent_ack_prevention(factory).await;
}

#[tokio::test]
async fn what_it_does_not_have_is_refused() {
    let memory = Memory::default();
    let item = WorkItem::ActivityExecute {
        instance: "a".to_owned(),
        execution_id: 1,
        id: 2,
        name: "Work".to_owned(),
        input: String::new(),
        session_id: Some("s".to_owned()),
        tag: None,
    };
    let refused = memory.enqueue_for_worker(item).await.unwrap_err();
    assert!(refused.message.contains("no sessions"), "{refused}");
}

/// A waiting fetch has work as soon as it is there, and a timer's message when it is due.
#[tokio::test]
async fn waiting_fetches_are_woken() {
    let memory = Arc::new(Memory::default());
    let waiting = tokio::spawn({
        let memory = memory.clone();
        async move {
            let (lease, wait) = (Duration::from_secs(5), Duration::from_secs(60));
            memory.fetch_orchestration_item(lease, wait, None).await
        }
    });
    tokio::task::yield_now().await;
    let start = WorkItem::StartOrchestration {
        instance: "a".to_owned(),
        orchestration: "One".to_owned(),
        input: String::new(),
        version: None,
        parent_instance: None,
        parent_id: None,
        parent_execution_id: None,
        execution_id: 1,
    };
    let delay = Some(Duration::from_millis(20));
    memory.enqueue_for_orchestrator(start, delay).await.unwrap();
    let (item, _, attempts) = waiting.await.unwrap().unwrap().unwrap();
    assert_eq!((item.orchestration_name.as_str(), attempts), ("One", 1));
}
