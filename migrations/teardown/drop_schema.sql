-- Removes everything the installation created, and nothing else.
--
-- Works on a half-finished installation too. The roles must have no members left. The schema itself
-- goes only if the installer created it and nothing of somebody else's is in it.
DECLARE @created_schema BIT = 0;
IF EXISTS (SELECT 1
           FROM   sys.objects AS o
           WHERE  o.schema_id = SCHEMA_ID(N'$(schema)')
             AND  o.name = N'schema_release')
BEGIN
    SELECT @created_schema = r.created_schema
    FROM   [$(schema)].schema_release AS r;
END;

DROP PROCEDURE IF EXISTS [$(schema)]._add_version_lane;
DROP PROCEDURE IF EXISTS [$(schema)]._add_work_items;
DROP PROCEDURE IF EXISTS [$(schema)]._append_history;
DROP PROCEDURE IF EXISTS [$(schema)]._read_history;
DROP PROCEDURE IF EXISTS [$(schema)]._send_history;
DROP PROCEDURE IF EXISTS [$(schema)]._send_key_values;
DROP PROCEDURE IF EXISTS [$(schema)]._send_work_history;
DROP PROCEDURE IF EXISTS [$(schema)]._apply_kv_changes;
DROP PROCEDURE IF EXISTS [$(schema)]._await_instance;
DROP PROCEDURE IF EXISTS [$(schema)]._await_sessions;
DROP PROCEDURE IF EXISTS [$(schema)]._await_work_item;
DROP PROCEDURE IF EXISTS [$(schema)]._cancel_activities;
DROP PROCEDURE IF EXISTS [$(schema)]._check_history;
DROP PROCEDURE IF EXISTS [$(schema)]._check_instance_id;
DROP PROCEDURE IF EXISTS [$(schema)]._check_instance_ids;
DROP PROCEDURE IF EXISTS [$(schema)]._check_instance_is_alive;
DROP PROCEDURE IF EXISTS [$(schema)]._check_kv_keys;
DROP PROCEDURE IF EXISTS [$(schema)]._check_work_items;
DROP PROCEDURE IF EXISTS [$(schema)]._claim_instance;
DROP PROCEDURE IF EXISTS [$(schema)]._claim_session;
DROP PROCEDURE IF EXISTS [$(schema)]._delete_events;
DROP PROCEDURE IF EXISTS [$(schema)]._delete_fenced;
DROP PROCEDURE IF EXISTS [$(schema)]._delete_instances;
DROP PROCEDURE IF EXISTS [$(schema)]._erase_instance;
DROP PROCEDURE IF EXISTS [$(schema)]._fence_instance;
DROP PROCEDURE IF EXISTS [$(schema)]._find_execution;
DROP PROCEDURE IF EXISTS [$(schema)]._find_session_item;
DROP PROCEDURE IF EXISTS [$(schema)]._finish_deletion;
DROP PROCEDURE IF EXISTS [$(schema)]._lock_instance;
DROP PROCEDURE IF EXISTS [$(schema)]._lock_session_lanes;
DROP PROCEDURE IF EXISTS [$(schema)]._park_orphan;
DROP PROCEDURE IF EXISTS [$(schema)]._post_message;
DROP PROCEDURE IF EXISTS [$(schema)]._postpone_session_lane;
DROP PROCEDURE IF EXISTS [$(schema)]._prune_executions;
DROP PROCEDURE IF EXISTS [$(schema)]._list_lanes;
DROP PROCEDURE IF EXISTS [$(schema)]._list_session_tags;
DROP PROCEDURE IF EXISTS [$(schema)]._list_tags;
DROP PROCEDURE IF EXISTS [$(schema)]._refuse_instance_ids;
DROP PROCEDURE IF EXISTS [$(schema)]._release_instance;
DROP PROCEDURE IF EXISTS [$(schema)]._save_execution;
DROP PROCEDURE IF EXISTS [$(schema)]._settle_session_lane;
DROP PROCEDURE IF EXISTS [$(schema)]._weigh_instance;
DROP PROCEDURE IF EXISTS [$(schema)].abandon_orchestration_item;
DROP PROCEDURE IF EXISTS [$(schema)].abandon_work_item;
DROP PROCEDURE IF EXISTS [$(schema)].ack_orchestration_item;
DROP PROCEDURE IF EXISTS [$(schema)].ack_work_item;
DROP PROCEDURE IF EXISTS [$(schema)].append_with_execution;
DROP PROCEDURE IF EXISTS [$(schema)].cancel_instance;
DROP PROCEDURE IF EXISTS [$(schema)].cleanup_orphaned_sessions;
DROP PROCEDURE IF EXISTS [$(schema)].delete_instance;
DROP PROCEDURE IF EXISTS [$(schema)].delete_instance_bulk;
DROP PROCEDURE IF EXISTS [$(schema)].delete_instances_atomic;
DROP PROCEDURE IF EXISTS [$(schema)].enqueue_for_orchestrator;
DROP PROCEDURE IF EXISTS [$(schema)].enqueue_for_worker;
DROP PROCEDURE IF EXISTS [$(schema)].fetch_orchestration_item;
DROP PROCEDURE IF EXISTS [$(schema)].fetch_work_item;
DROP PROCEDURE IF EXISTS [$(schema)].get_custom_status;
DROP PROCEDURE IF EXISTS [$(schema)].get_execution_info;
DROP PROCEDURE IF EXISTS [$(schema)].get_instance_info;
DROP PROCEDURE IF EXISTS [$(schema)].get_instance_stats;
DROP PROCEDURE IF EXISTS [$(schema)].get_instance_tree;
DROP PROCEDURE IF EXISTS [$(schema)].get_kv_all_values;
DROP PROCEDURE IF EXISTS [$(schema)].get_kv_value;
DROP PROCEDURE IF EXISTS [$(schema)].get_parent_id;
DROP PROCEDURE IF EXISTS [$(schema)].get_queue_depths;
DROP PROCEDURE IF EXISTS [$(schema)].get_schema_state;
DROP PROCEDURE IF EXISTS [$(schema)].get_system_metrics;
DROP PROCEDURE IF EXISTS [$(schema)].latest_execution_id;
DROP PROCEDURE IF EXISTS [$(schema)].list_children;
DROP PROCEDURE IF EXISTS [$(schema)].list_executions;
DROP PROCEDURE IF EXISTS [$(schema)].list_instances;
DROP PROCEDURE IF EXISTS [$(schema)].list_instances_by_status;
DROP PROCEDURE IF EXISTS [$(schema)].prune_executions;
DROP PROCEDURE IF EXISTS [$(schema)].prune_executions_bulk;
DROP PROCEDURE IF EXISTS [$(schema)].purge_instances;
DROP PROCEDURE IF EXISTS [$(schema)].purge_orphan_messages;
DROP PROCEDURE IF EXISTS [$(schema)].raise_event;
DROP PROCEDURE IF EXISTS [$(schema)].[read];
DROP PROCEDURE IF EXISTS [$(schema)].read_with_execution;
DROP PROCEDURE IF EXISTS [$(schema)].release_sessions;
DROP PROCEDURE IF EXISTS [$(schema)].renew_orchestration_item_lock;
DROP PROCEDURE IF EXISTS [$(schema)].renew_session_lock;
DROP PROCEDURE IF EXISTS [$(schema)].renew_work_item_lock;
DROP PROCEDURE IF EXISTS [$(schema)].uncount_orchestration_item;
DROP PROCEDURE IF EXISTS [$(schema)].uncount_work_item;
DROP PROCEDURE IF EXISTS [$(schema)].wait_for_work;

DROP VIEW IF EXISTS [$(schema)].v_executions;
DROP VIEW IF EXISTS [$(schema)].v_history;
DROP VIEW IF EXISTS [$(schema)].v_history_payloads;
DROP VIEW IF EXISTS [$(schema)].v_instance_payloads;
DROP VIEW IF EXISTS [$(schema)].v_instances;
DROP VIEW IF EXISTS [$(schema)].v_key_values;
DROP VIEW IF EXISTS [$(schema)].v_queue;
DROP VIEW IF EXISTS [$(schema)].v_queue_depth;
DROP VIEW IF EXISTS [$(schema)].v_queue_payloads;
DROP VIEW IF EXISTS [$(schema)].v_waiting;
DROP VIEW IF EXISTS [$(schema)].v_workers;
DROP VIEW IF EXISTS [$(schema)]._v_open_subscriptions;

DROP TABLE IF EXISTS [$(schema)].metrics_cache;
DROP TABLE IF EXISTS [$(schema)].sessions;
DROP TABLE IF EXISTS [$(schema)].worker_queue;
DROP TABLE IF EXISTS [$(schema)].session_lanes;
DROP TABLE IF EXISTS [$(schema)].kv_delta;
DROP TABLE IF EXISTS [$(schema)].kv_store;
DROP TABLE IF EXISTS [$(schema)].history;
DROP TABLE IF EXISTS [$(schema)].executions;
DROP TABLE IF EXISTS [$(schema)].instances;
DROP TABLE IF EXISTS [$(schema)].orchestrator_queue;
DROP TABLE IF EXISTS [$(schema)].version_lanes;
DROP TABLE IF EXISTS [$(schema)].instance_locks;
DROP TABLE IF EXISTS [$(schema)].schema_release;
DROP TABLE IF EXISTS [$(schema)].schema_migrations;

DROP ROLE IF EXISTS [$(role)];
DROP ROLE IF EXISTS [$(observer)];
DROP ROLE IF EXISTS [$(inspector)];

IF @created_schema = 1
   AND NOT EXISTS (SELECT 1 FROM sys.objects AS o WHERE o.schema_id = SCHEMA_ID(N'$(schema)'))
   AND NOT EXISTS (SELECT 1 FROM sys.types AS t WHERE t.schema_id = SCHEMA_ID(N'$(schema)'))
BEGIN
    DROP SCHEMA [$(schema)];
END;
GO
