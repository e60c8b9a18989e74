-- The roles of a schema, and what each may do and nothing else.
--
--   runtime     EXECUTE on the public procedures
--   observer    SELECT on the views without payloads
--   inspector   SELECT on the views with payloads, which may hold personal data
--
-- The application's login becomes a member of the runtime role. It cannot read or write a table, call a
-- helper (those beginning with an underscore) or change the schema; the procedures reach the tables
-- because procedures and tables have one owner.
IF DATABASE_PRINCIPAL_ID(N'$(role)') IS NULL
BEGIN
    CREATE ROLE [$(role)];
END;
IF DATABASE_PRINCIPAL_ID(N'$(observer)') IS NULL
BEGIN
    CREATE ROLE [$(observer)];
END;
IF DATABASE_PRINCIPAL_ID(N'$(inspector)') IS NULL
BEGIN
    CREATE ROLE [$(inspector)];
END;
GO

GRANT EXECUTE ON OBJECT::[$(schema)].abandon_orchestration_item TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].abandon_work_item TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].ack_orchestration_item TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].ack_work_item TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].append_with_execution TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].cancel_instance TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].cleanup_orphaned_sessions TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].delete_instance TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].delete_instance_bulk TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].delete_instances_atomic TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].enqueue_for_orchestrator TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].enqueue_for_worker TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].fetch_orchestration_item TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].fetch_work_item TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_custom_status TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_execution_info TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_instance_info TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_instance_stats TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_instance_tree TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_kv_all_values TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_kv_value TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_parent_id TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_queue_depths TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_schema_state TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].get_system_metrics TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].latest_execution_id TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].list_children TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].list_executions TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].list_instances TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].list_instances_by_status TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].prune_executions TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].prune_executions_bulk TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].purge_instances TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].purge_orphan_messages TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].raise_event TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].[read] TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].read_with_execution TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].release_sessions TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].renew_orchestration_item_lock TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].renew_session_lock TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].renew_work_item_lock TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].uncount_orchestration_item TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].uncount_work_item TO [$(role)];
GRANT EXECUTE ON OBJECT::[$(schema)].wait_for_work TO [$(role)];
GO

GRANT SELECT ON OBJECT::[$(schema)].v_executions TO [$(observer)];
GRANT SELECT ON OBJECT::[$(schema)].v_history TO [$(observer)];
GRANT SELECT ON OBJECT::[$(schema)].v_instances TO [$(observer)];
GRANT SELECT ON OBJECT::[$(schema)].v_queue TO [$(observer)];
GRANT SELECT ON OBJECT::[$(schema)].v_queue_depth TO [$(observer)];
GRANT SELECT ON OBJECT::[$(schema)].v_waiting TO [$(observer)];
GRANT SELECT ON OBJECT::[$(schema)].v_workers TO [$(observer)];
GRANT SELECT ON OBJECT::[$(schema)].v_history_payloads TO [$(inspector)];
GRANT SELECT ON OBJECT::[$(schema)].v_instance_payloads TO [$(inspector)];
GRANT SELECT ON OBJECT::[$(schema)].v_key_values TO [$(inspector)];
GRANT SELECT ON OBJECT::[$(schema)].v_queue_payloads TO [$(inspector)];
GO
