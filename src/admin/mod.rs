//! Administration: one line per method of `ProviderAdmin`.

mod delete;
mod query;

use duroxide::Event;
use duroxide::providers::{
    DeleteInstanceResult, ExecutionInfo, InstanceFilter, InstanceInfo, InstanceTree, ProviderAdmin,
    ProviderError, PruneOptions, PruneResult, QueueDepths, SystemMetrics,
};

use crate::observe::operation;
use crate::provider::{MssqlProvider, history};

type Answer<T> = Result<T, ProviderError>;

#[async_trait::async_trait]
impl ProviderAdmin for MssqlProvider {
    async fn list_instances(&self) -> Answer<Vec<String>> {
        let operation = operation!(self, "list_instances");
        operation.run(query::list_instances(self)).await
    }

    async fn list_instances_by_status(&self, status: &str) -> Answer<Vec<String>> {
        let operation = operation!(self, "list_instances_by_status");
        operation
            .run(query::list_instances_by_status(self, status))
            .await
    }

    async fn list_executions(&self, instance: &str) -> Answer<Vec<u64>> {
        let operation = operation!(self, "list_executions", instance_id = instance);
        operation.run(query::list_executions(self, instance)).await
    }

    async fn read_history_with_execution_id(
        &self,
        instance: &str,
        execution_id: u64,
    ) -> Answer<Vec<Event>> {
        let operation = operation!(
            self,
            "read_history_with_execution_id",
            instance_id = instance,
            execution_id = execution_id
        );
        operation
            .run(history::read_with_execution(self, instance, execution_id))
            .await
    }

    async fn read_history(&self, instance: &str) -> Answer<Vec<Event>> {
        let operation = operation!(self, "read_history", instance_id = instance);
        operation.run(history::read(self, instance)).await
    }

    async fn latest_execution_id(&self, instance: &str) -> Answer<u64> {
        let operation = operation!(self, "latest_execution_id", instance_id = instance);
        operation
            .run(query::latest_execution_id(self, instance))
            .await
    }

    async fn get_instance_info(&self, instance: &str) -> Answer<InstanceInfo> {
        let operation = operation!(self, "get_instance_info", instance_id = instance);
        operation.run(query::instance_info(self, instance)).await
    }

    async fn get_execution_info(&self, instance: &str, execution_id: u64) -> Answer<ExecutionInfo> {
        let operation = operation!(
            self,
            "get_execution_info",
            instance_id = instance,
            execution_id = execution_id
        );
        operation
            .run(query::execution_info(self, instance, execution_id))
            .await
    }

    async fn get_system_metrics(&self) -> Answer<SystemMetrics> {
        let operation = operation!(self, "get_system_metrics");
        operation.run(query::system_metrics(self)).await
    }

    async fn get_queue_depths(&self) -> Answer<QueueDepths> {
        let operation = operation!(self, "get_queue_depths");
        operation.run(query::queue_depths(self)).await
    }

    async fn list_children(&self, instance_id: &str) -> Answer<Vec<String>> {
        let operation = operation!(self, "list_children", instance_id = instance_id);
        operation.run(query::list_children(self, instance_id)).await
    }

    async fn get_parent_id(&self, instance_id: &str) -> Answer<Option<String>> {
        let operation = operation!(self, "get_parent_id", instance_id = instance_id);
        operation.run(query::parent_id(self, instance_id)).await
    }

    async fn get_instance_tree(&self, instance_id: &str) -> Answer<InstanceTree> {
        let operation = operation!(self, "get_instance_tree", instance_id = instance_id);
        operation.run(query::instance_tree(self, instance_id)).await
    }

    async fn delete_instances_atomic(
        &self,
        ids: &[String],
        force: bool,
    ) -> Answer<DeleteInstanceResult> {
        let operation = operation!(self, "delete_instances_atomic");
        operation
            .run(delete::instances_atomic(self, ids, force))
            .await
    }

    async fn delete_instance(
        &self,
        instance_id: &str,
        force: bool,
    ) -> Answer<DeleteInstanceResult> {
        let operation = operation!(self, "delete_instance", instance_id = instance_id);
        operation
            .run(delete::instance(self, instance_id, force))
            .await
    }

    async fn delete_instance_bulk(&self, filter: InstanceFilter) -> Answer<DeleteInstanceResult> {
        let operation = operation!(self, "delete_instance_bulk");
        operation.run(delete::instance_bulk(self, &filter)).await
    }

    async fn prune_executions(
        &self,
        instance_id: &str,
        options: PruneOptions,
    ) -> Answer<PruneResult> {
        let operation = operation!(self, "prune_executions", instance_id = instance_id);
        operation
            .run(delete::prune(self, instance_id, &options))
            .await
    }

    async fn prune_executions_bulk(
        &self,
        filter: InstanceFilter,
        options: PruneOptions,
    ) -> Answer<PruneResult> {
        let operation = operation!(self, "prune_executions_bulk");
        operation
            .run(delete::prune_bulk(self, &filter, &options))
            .await
    }
}
