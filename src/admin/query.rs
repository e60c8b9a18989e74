//! Lists, descriptions and metrics of what is stored.

use duroxide::providers::{ExecutionInfo, InstanceInfo, InstanceTree, QueueDepths, SystemMetrics};

use crate::codec;
use crate::error::CallError;
use crate::procedure::{Call, Record, ResultSets};
use crate::provider::MssqlProvider;
use crate::retry::Retry;

/// What reads a few rows is answered soon, or the connection is silent.
const READ: Retry = Retry::harmless();

fn of_instance<'a>(procedure: &'static str, instance: &'a str) -> Call<'a> {
    Call::client(procedure, READ).text("@instance_id", instance)
}

pub(super) async fn list_instances(provider: &MssqlProvider) -> Result<Vec<String>, CallError> {
    ids(provider, &Call::client("list_instances", READ)).await
}

pub(super) async fn list_instances_by_status(
    provider: &MssqlProvider,
    status: &str,
) -> Result<Vec<String>, CallError> {
    ids(
        provider,
        &Call::client("list_instances_by_status", READ).text("@status", status),
    )
    .await
}

pub(super) async fn list_children(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<Vec<String>, CallError> {
    ids(provider, &of_instance("list_children", instance)).await
}

pub(super) async fn instance_tree(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<InstanceTree, CallError> {
    let all_ids = ids(provider, &of_instance("get_instance_tree", instance)).await?;
    Ok(InstanceTree {
        root_id: instance.to_owned(),
        all_ids,
    })
}

pub(super) async fn list_executions(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<Vec<u64>, CallError> {
    let call = of_instance("list_executions", instance);
    let rows = provider.database.execute(&call).await?.next_set()?;
    rows.iter().map(|row| row.count("execution_id")).collect()
}

pub(super) async fn latest_execution_id(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<u64, CallError> {
    let call = of_instance("latest_execution_id", instance);
    provider
        .database
        .execute(&call)
        .await?
        .row()?
        .count("execution_id")
}

pub(super) async fn parent_id(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<Option<String>, CallError> {
    let row = provider
        .database
        .execute(&of_instance("get_parent_id", instance))
        .await?
        .row()?;
    opt_owned(&row, "parent_instance_id")
}

pub(super) async fn instance_info(
    provider: &MssqlProvider,
    instance: &str,
) -> Result<InstanceInfo, CallError> {
    let call = of_instance("get_instance_info", instance);
    let row = provider.database.execute(&call).await?.row()?;
    let version = opt_owned(&row, "orchestration_version")?;
    Ok(InstanceInfo {
        instance_id: row.text("instance_id")?.to_owned(),
        orchestration_name: row.text("orchestration_name")?.to_owned(),
        orchestration_version: version.unwrap_or_else(|| "unknown".to_owned()),
        current_execution_id: row.count("current_execution_id")?,
        status: row.text("status")?.to_owned(),
        output: opt_owned(&row, "output")?,
        created_at: row.count("created_at_ms")?,
        updated_at: row.count("updated_at_ms")?,
        parent_instance_id: opt_owned(&row, "parent_instance_id")?,
    })
}

pub(super) async fn execution_info(
    provider: &MssqlProvider,
    instance: &str,
    execution_id: u64,
) -> Result<ExecutionInfo, CallError> {
    let call = of_instance("get_execution_info", instance).int(
        "@execution_id",
        codec::bigint("execution id", execution_id)?,
    );
    let row = provider.database.execute(&call).await?.row()?;
    Ok(ExecutionInfo {
        execution_id: row.count("execution_id")?,
        status: row.text("status")?.to_owned(),
        output: opt_owned(&row, "output")?,
        started_at: row.count("started_at_ms")?,
        completed_at: row.opt_count("completed_at_ms")?,
        event_count: size(row.count("event_count")?),
    })
}

/// Asks for a count. The runtime does so before its dispatchers start, and must not wait for a silent connection for as long as any command
/// may take. But the server may only have much to count. It ends with the connection, and has promised the others that
/// there will be an answer; so it is asked once more to count, whatever was promised, and given the time.
async fn counted(
    provider: &MssqlProvider,
    procedure: &'static str,
) -> Result<ResultSets, CallError> {
    let database = &provider.database;
    match database
        .execute(&Call::client(procedure, Retry::once()))
        .await
    {
        Err(error) if error.is_retryable() && !error.is_undone() => {
            let call = Call::client(procedure, Retry::patient());
            database.execute(&call.int("@max_age_ms", 0)).await
        }
        answer => answer,
    }
}

pub(super) async fn system_metrics(provider: &MssqlProvider) -> Result<SystemMetrics, CallError> {
    let row = counted(provider, "get_system_metrics").await?.row()?;
    Ok(SystemMetrics {
        total_instances: row.count("total_instances")?,
        total_executions: row.count("total_executions")?,
        running_instances: row.count("running_instances")?,
        completed_instances: row.count("completed_instances")?,
        failed_instances: row.count("failed_instances")?,
        total_events: row.count("total_events")?,
    })
}

pub(super) async fn queue_depths(provider: &MssqlProvider) -> Result<QueueDepths, CallError> {
    let row = counted(provider, "get_queue_depths").await?.row()?;
    Ok(QueueDepths {
        orchestrator_queue: size(row.count("orchestrator_queue")?),
        worker_queue: size(row.count("worker_queue")?),
        // Timers are messages of the orchestrator queue.
        timer_queue: 0,
    })
}

async fn ids(provider: &MssqlProvider, call: &Call<'_>) -> Result<Vec<String>, CallError> {
    let rows = provider.database.execute(call).await?.next_set()?;
    rows.iter()
        .map(|row| Ok(row.text("instance_id")?.to_owned()))
        .collect()
}

fn opt_owned(row: &Record, column: &'static str) -> Result<Option<String>, CallError> {
    Ok(row.opt_text(column)?.map(ToOwned::to_owned))
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
