//! Administration: one line per method of `ProviderAdmin`.

mod delete;
mod query;

use duroxide::Event;
use duroxide::providers::{
    DeleteInstanceResult, ExecutionInfo, InstanceFilter, InstanceInfo, InstanceTree, ProviderAdmin,
    ProviderError, PruneOptions, PruneResult, QueueDepths, SystemMetrics,
};

use crate::provider::{MssqlProvider, history, named};

type Answer<T> = Result<T, ProviderError>;

#[async_trait::async_trait]
impl ProviderAdmin for MssqlProvider {
    async fn list_instances(&self) -> Answer<Vec<String>> {
        named("list_instances", query::list_instances(self).await)
    }

    async fn list_instances_by_status(&self, status: &str) -> Answer<Vec<String>> {
        named(
            "list_instances_by_status",
            query::list_instances_by_status(self, status).await,
        )
    }

    async fn list_executions(&self, instance: &str) -> Answer<Vec<u64>> {
        named(
            "list_executions",
            query::list_executions(self, instance).await,
        )
    }

    async fn read_history_with_execution_id(
        &self,
        instance: &str,
        execution_id: u64,
    ) -> Answer<Vec<Event>> {
        let result = history::read_with_execution(self, instance, execution_id).await;
        named("read_history_with_execution_id", result)
    }

    async fn read_history(&self, instance: &str) -> Answer<Vec<Event>> {
        named("read_history", history::read(self, instance).await)
    }

    async fn latest_execution_id(&self, instance: &str) -> Answer<u64> {
        named(
            "latest_execution_id",
            query::latest_execution_id(self, instance).await,
        )
    }

    async fn get_instance_info(&self, instance: &str) -> Answer<InstanceInfo> {
        named(
            "get_instance_info",
            query::instance_info(self, instance).await,
        )
    }

    async fn get_execution_info(&self, instance: &str, execution_id: u64) -> Answer<ExecutionInfo> {
        named(
            "get_execution_info",
            query::execution_info(self, instance, execution_id).await,
        )
    }

    async fn get_system_metrics(&self) -> Answer<SystemMetrics> {
        named("get_system_metrics", query::system_metrics(self).await)
    }

    async fn get_queue_depths(&self) -> Answer<QueueDepths> {
        named("get_queue_depths", query::queue_depths(self).await)
    }

    async fn list_children(&self, instance_id: &str) -> Answer<Vec<String>> {
        named(
            "list_children",
            query::list_children(self, instance_id).await,
        )
    }

    async fn get_parent_id(&self, instance_id: &str) -> Answer<Option<String>> {
        named("get_parent_id", query::parent_id(self, instance_id).await)
    }

    async fn get_instance_tree(&self, instance_id: &str) -> Answer<InstanceTree> {
        named(
            "get_instance_tree",
            query::instance_tree(self, instance_id).await,
        )
    }

    async fn delete_instances_atomic(
        &self,
        ids: &[String],
        force: bool,
    ) -> Answer<DeleteInstanceResult> {
        named(
            "delete_instances_atomic",
            delete::instances_atomic(self, ids, force).await,
        )
    }

    async fn delete_instance(
        &self,
        instance_id: &str,
        force: bool,
    ) -> Answer<DeleteInstanceResult> {
        named(
            "delete_instance",
            delete::instance(self, instance_id, force).await,
        )
    }

    async fn delete_instance_bulk(&self, filter: InstanceFilter) -> Answer<DeleteInstanceResult> {
        named(
            "delete_instance_bulk",
            delete::instance_bulk(self, &filter).await,
        )
    }

    async fn prune_executions(
        &self,
        instance_id: &str,
        options: PruneOptions,
    ) -> Answer<PruneResult> {
        named(
            "prune_executions",
            delete::prune(self, instance_id, &options).await,
        )
    }

    async fn prune_executions_bulk(
        &self,
        filter: InstanceFilter,
        options: PruneOptions,
    ) -> Answer<PruneResult> {
        named(
            "prune_executions_bulk",
            delete::prune_bulk(self, &filter, &options).await,
        )
    }
}
