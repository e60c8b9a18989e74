//! The trait's methods, one after the other: a span, and the work, which is elsewhere.

use std::collections::HashMap;
use std::time::Duration;

use duroxide::providers::{
    DispatcherCapabilityFilter, ExecutionMetadata, OrchestrationItem, Provider, ProviderAdmin,
    ProviderError, ScheduledActivityIdentifier, SessionFetchConfig, TagFilter, WorkItem,
};
use duroxide::{Event, SystemStats};

use super::leases::Queue;
use super::{MssqlProvider, history, kv, orchestration, sessions, worker};
use crate::observe::operation;

type Answer<T> = Result<T, ProviderError>;

#[async_trait::async_trait]
impl Provider for MssqlProvider {
    fn name(&self) -> &str {
        "duroxide-sql"
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn as_management_capability(&self) -> Option<&dyn ProviderAdmin> {
        Some(self)
    }

    async fn fetch_orchestration_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        filter: Option<&DispatcherCapabilityFilter>,
    ) -> Answer<Option<(OrchestrationItem, String, u32)>> {
        let operation = operation!(self, "fetch_orchestration_item");
        let work = orchestration::fetch(self, lock_timeout, poll_timeout, filter);
        let fetched = operation.run(work).await;
        operation.fetched_turn(&fetched);
        self.outage.tell(Queue::Orchestrations, fetched)
    }

    async fn ack_orchestration_item(
        &self,
        lock_token: &str,
        execution_id: u64,
        history_delta: Vec<Event>,
        worker_items: Vec<WorkItem>,
        orchestrator_items: Vec<WorkItem>,
        metadata: ExecutionMetadata,
        cancelled_activities: Vec<ScheduledActivityIdentifier>,
    ) -> Answer<()> {
        let operation = operation!(
            self,
            "ack_orchestration_item",
            execution_id = execution_id,
            lock_token = lock_token
        );
        operation.of_lease(|| self.claims.leases.instance_id(lock_token));
        let turn = orchestration::Turn {
            execution_id,
            history_delta: &history_delta,
            worker_items: &worker_items,
            orchestrator_items: &orchestrator_items,
            metadata: &metadata,
            cancelled_activities: &cancelled_activities,
        };
        operation
            .run(orchestration::ack(self, lock_token, &turn))
            .await
    }

    async fn abandon_orchestration_item(
        &self,
        lock_token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        let operation = operation!(self, "abandon_orchestration_item", lock_token = lock_token);
        operation.of_lease(|| self.claims.leases.instance_id(lock_token));
        operation
            .run(orchestration::abandon(
                self,
                lock_token,
                delay,
                ignore_attempt,
            ))
            .await
    }

    async fn renew_orchestration_item_lock(&self, token: &str, extend_for: Duration) -> Answer<()> {
        let operation = operation!(self, "renew_orchestration_item_lock", lock_token = token);
        operation.of_lease(|| self.claims.leases.instance_id(token));
        operation
            .run(orchestration::renew(self, token, extend_for))
            .await
    }

    async fn enqueue_for_orchestrator(
        &self,
        item: WorkItem,
        delay: Option<Duration>,
    ) -> Answer<()> {
        let operation = operation!(self, "enqueue_for_orchestrator");
        operation.names(&item);
        operation
            .run(orchestration::enqueue(self, &item, delay))
            .await
    }

    async fn read(&self, instance: &str) -> Answer<Vec<Event>> {
        let operation = operation!(self, "read", instance_id = instance);
        operation.run(history::read(self, instance)).await
    }

    async fn read_with_execution(&self, instance: &str, execution_id: u64) -> Answer<Vec<Event>> {
        let operation = operation!(
            self,
            "read_with_execution",
            instance_id = instance,
            execution_id = execution_id
        );
        operation
            .run(history::read_with_execution(self, instance, execution_id))
            .await
    }

    async fn append_with_execution(
        &self,
        instance: &str,
        execution_id: u64,
        new_events: Vec<Event>,
    ) -> Answer<()> {
        let operation = operation!(
            self,
            "append_with_execution",
            instance_id = instance,
            execution_id = execution_id
        );
        operation
            .run(history::append(self, instance, execution_id, &new_events))
            .await
    }

    async fn enqueue_for_worker(&self, item: WorkItem) -> Answer<()> {
        let operation = operation!(self, "enqueue_for_worker");
        operation.names(&item);
        operation.run(worker::enqueue(self, &item)).await
    }

    async fn fetch_work_item(
        &self,
        lock_timeout: Duration,
        poll_timeout: Duration,
        session: Option<&SessionFetchConfig>,
        tag_filter: &TagFilter,
    ) -> Answer<Option<(WorkItem, String, u32)>> {
        let operation = operation!(self, "fetch_work_item");
        let work = worker::fetch(self, lock_timeout, poll_timeout, session, tag_filter);
        let fetched = operation.run(work).await;
        operation.fetched_work(&fetched);
        self.outage.tell(Queue::Work, fetched)
    }

    async fn ack_work_item(&self, token: &str, completion: Option<WorkItem>) -> Answer<()> {
        let operation = operation!(self, "ack_work_item", lock_token = token);
        match &completion {
            Some(completion) => operation.names(completion),
            None => operation.of_lease(|| self.claims.leases.instance_id(token)),
        }
        operation
            .run(worker::ack(self, token, completion.as_ref()))
            .await
    }

    async fn renew_work_item_lock(&self, token: &str, extend_for: Duration) -> Answer<()> {
        let operation = operation!(self, "renew_work_item_lock", lock_token = token);
        operation.of_lease(|| self.claims.leases.instance_id(token));
        operation.run(worker::renew(self, token, extend_for)).await
    }

    async fn abandon_work_item(
        &self,
        token: &str,
        delay: Option<Duration>,
        ignore_attempt: bool,
    ) -> Answer<()> {
        let operation = operation!(self, "abandon_work_item", lock_token = token);
        operation.of_lease(|| self.claims.leases.instance_id(token));
        operation
            .run(worker::abandon(self, token, delay, ignore_attempt))
            .await
    }

    async fn renew_session_lock(
        &self,
        owner_ids: &[&str],
        extend_for: Duration,
        idle_timeout: Duration,
    ) -> Answer<usize> {
        let operation = operation!(self, "renew_session_lock");
        operation
            .run(sessions::renew(self, owner_ids, extend_for, idle_timeout))
            .await
    }

    async fn cleanup_orphaned_sessions(&self, idle_timeout: Duration) -> Answer<usize> {
        let operation = operation!(self, "cleanup_orphaned_sessions");
        operation.run(sessions::cleanup(self, idle_timeout)).await
    }

    async fn get_custom_status(
        &self,
        instance: &str,
        last_seen_version: u64,
    ) -> Answer<Option<(Option<String>, u64)>> {
        let operation = operation!(self, "get_custom_status", instance_id = instance);
        operation
            .run(kv::custom_status(self, instance, last_seen_version))
            .await
    }

    async fn get_kv_value(&self, instance: &str, key: &str) -> Answer<Option<String>> {
        let operation = operation!(self, "get_kv_value", instance_id = instance);
        operation.run(kv::value(self, instance, key)).await
    }

    async fn get_kv_all_values(&self, instance: &str) -> Answer<HashMap<String, String>> {
        let operation = operation!(self, "get_kv_all_values", instance_id = instance);
        operation.run(kv::all_values(self, instance)).await
    }

    async fn get_instance_stats(&self, instance: &str) -> Answer<Option<SystemStats>> {
        let operation = operation!(self, "get_instance_stats", instance_id = instance);
        operation.run(kv::stats(self, instance)).await
    }
}
