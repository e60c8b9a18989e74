-- Tables and indexes of the first release.
--
-- Rules that hold for every table:
--   * Ids are NVARCHAR(400) under a binary collation, so ids that differ in case differ, whatever
--     the database's collation. 800 bytes leave room for the other columns of a clustered key
--     (900 bytes) and of an index key (1,700 bytes).
--   * Times are BIGINT milliseconds since 1970, by the server's clock.
--   * Tokens of leases are UNIQUEIDENTIFIER, which has its width also while it is NULL: a claim changes a
--     row in place, and no page splits because of it.
--   * There are no foreign keys: an instance may have executions and history before it has a row
--     in instances, and they would only add locks.
--   * Lock escalation is disabled. READPAST does not step over a table lock, and one turn may write
--     thousands of rows; a transaction that got a table lock would also hold what it never asked for, and
--     no order of locks among rows would keep it from meeting another one.
--   * The keys of all that turns write, and the indexes of the queues and of the sessions, have STATISTICS_NORECOMPUTE: the procedures
--     name their indexes, so that no figure could change a plan, and updating the statistics would only hold up a fetch or a
--     turn. Those of instances and executions by status, time and parent are kept, for whoever asks in his own words.

CREATE TABLE [$(schema)].schema_migrations
(
    migration_number INT           NOT NULL,
    migration_name   NVARCHAR(200) NOT NULL,
    checksum         NVARCHAR(64)  NOT NULL,
    applied_at_ms    BIGINT        NOT NULL,
    release          NVARCHAR(64)  NOT NULL,
    CONSTRAINT pk_schema_migrations PRIMARY KEY CLUSTERED (migration_number)
);
GO

-- One row: which release installed the procedures. release_order is the release packed into a
-- number, so that an older build can see that it is older and leaves the procedures alone.
CREATE TABLE [$(schema)].schema_release
(
    release_id     TINYINT      NOT NULL,
    release        NVARCHAR(64) NOT NULL,
    release_order  BIGINT       NOT NULL,
    checksum       NVARCHAR(64) NOT NULL,
    applied_at_ms  BIGINT       NOT NULL,
    created_schema BIT          NOT NULL,
    CONSTRAINT pk_schema_release PRIMARY KEY CLUSTERED (release_id),
    CONSTRAINT ck_schema_release_single CHECK (release_id = 1)
);
GO

-- One row per instance that ever received a message: the instance's mutex, its lease and its
-- place in the queue of instances. Every procedure that writes anything of an instance locks this
-- row first.
--   lane            where the row queues: -3 the instance is being deleted, -2 nothing to fetch,
--                   -1 no pinned version, otherwise the pinned version
--   not_before_ms   while free, when its first message becomes visible; while held, the end of the lease
--   lock_token      the holder's token; NULL while free
--   messages_from_ms  no message of the instance is visible earlier, so that its turns need not pass over the
--                   ghosts of those before; 0 where nothing is known
--   pinned_version  of the current execution; -1 when it has none; in lane -3 the last message that
--                   is deleted with the instance
--   claim_id        breaks ties in arrival order
CREATE TABLE [$(schema)].instance_locks
(
    instance_id      NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    claim_id         BIGINT IDENTITY(1, 1) NOT NULL,
    lane             BIGINT NOT NULL,
    not_before_ms    BIGINT NOT NULL,
    lock_token       UNIQUEIDENTIFIER NULL,
    messages_from_ms BIGINT NOT NULL CONSTRAINT df_instance_locks_messages_from_ms DEFAULT 0,
    pinned_version   BIGINT NOT NULL,
    CONSTRAINT pk_instance_locks PRIMARY KEY CLUSTERED (instance_id)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].instance_locks SET (LOCK_ESCALATION = DISABLE);
GO

-- lock_token is included for v_queue_depth and v_workers, which then read no row of what has ended long ago; it changes only
-- when not_before_ms does.
CREATE INDEX ix_instance_locks_ready
    ON [$(schema)].instance_locks (lane, not_before_ms, claim_id) INCLUDE (lock_token)
    WITH (STATISTICS_NORECOMPUTE = ON);
GO

-- The lanes of pinned versions: every version that a turn ever pinned, and there are as many as releases of the
-- runtime. Rows are never changed or deleted, so that whoever asks which lanes there are passes over no ghosts,
-- as a walk through ix_instance_locks_ready would.
CREATE TABLE [$(schema)].version_lanes
(
    lane BIGINT NOT NULL,
    CONSTRAINT pk_version_lanes PRIMARY KEY CLUSTERED (lane)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].version_lanes SET (LOCK_ESCALATION = DISABLE);
GO

-- Messages for instances. Clustered by instance and visibility: a turn seeks its visible messages
-- and never reads past them, however many timers wait behind.
CREATE TABLE [$(schema)].orchestrator_queue
(
    instance_id   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    visible_at_ms BIGINT NOT NULL,
    queue_id      BIGINT IDENTITY(1, 1) NOT NULL,
    kind          NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    lock_token    UNIQUEIDENTIFIER NULL,
    attempt_count INT NOT NULL,
    payload       NVARCHAR(MAX) NOT NULL,
    CONSTRAINT pk_orchestrator_queue PRIMARY KEY CLUSTERED (instance_id, visible_at_ms, queue_id)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].orchestrator_queue SET (LOCK_ESCALATION = DISABLE);
GO

-- For get_queue_depths alone: the messages without what they carry. It lies by instance like the table itself, so
-- that enqueuers do not meet at its end, and the token is included, not a key: a claim changes the entry in place.
CREATE INDEX ix_orchestrator_queue_depth
    ON [$(schema)].orchestrator_queue (instance_id) INCLUDE (lock_token)
    WITH (STATISTICS_NORECOMPUTE = ON);
GO

-- status is that of the current execution, kept here so that lists and counts need no join.
CREATE TABLE [$(schema)].instances
(
    instance_id           NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    orchestration_name    NVARCHAR(MAX) NOT NULL,
    orchestration_version NVARCHAR(MAX) NULL,
    parent_instance_id    NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NULL,
    current_execution_id  BIGINT NOT NULL,
    status                NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    custom_status         NVARCHAR(MAX) NULL,
    custom_status_version BIGINT NOT NULL,
    created_at_ms         BIGINT NOT NULL,
    updated_at_ms         BIGINT NOT NULL,
    CONSTRAINT pk_instances PRIMARY KEY CLUSTERED (instance_id)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].instances SET (LOCK_ESCALATION = DISABLE);
GO

CREATE INDEX ix_instances_parent
    ON [$(schema)].instances (parent_instance_id);
GO

-- The included columns let searches answer from the index alone: a reader that went on to the row while
-- it had the entry would meet a writer, who has the row and wants the entry.
CREATE INDEX ix_instances_status
    ON [$(schema)].instances (status, created_at_ms) INCLUDE (parent_instance_id, current_execution_id);
GO

-- For the list of all instances and for prunes, which look for what has continued as new: no instance ever changes
-- its place here.
CREATE INDEX ix_instances_created
    ON [$(schema)].instances (created_at_ms) INCLUDE (current_execution_id);
GO

-- For purges: the roots of a status, oldest first. Children of parents that still run have ended too,
-- and lie elsewhere.
CREATE INDEX ix_instances_roots
    ON [$(schema)].instances (status, parent_instance_id, created_at_ms) INCLUDE (current_execution_id);
GO

-- acked_by names the provider that wrote the last turn. It has the whole history in its memory, or
-- had it: this is a hint about what need not be sent, never a proof.
CREATE TABLE [$(schema)].executions
(
    instance_id     NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id    BIGINT NOT NULL,
    status          NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    output          NVARCHAR(MAX) NULL,
    pinned_version  BIGINT NULL,
    event_count     BIGINT NOT NULL,
    acked_by        UNIQUEIDENTIFIER NULL,
    started_at_ms   BIGINT NOT NULL,
    completed_at_ms BIGINT NULL,
    CONSTRAINT pk_executions PRIMARY KEY CLUSTERED (instance_id, execution_id)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].executions SET (LOCK_ESCALATION = DISABLE);
GO

-- Narrow, so that get_system_metrics counts executions and events without reading outputs or
-- history. event_count is included, not a key: an ack changes it in place.
CREATE INDEX ix_executions_status
    ON [$(schema)].executions (status) INCLUDE (event_count);
GO

-- payload_bytes is the length in UTF-8, which the client knows and NVARCHAR does not.
--
-- appended_by is the token of the turn that wrote the event, unique for ever. Two histories of one
-- execution whose first events agree in it, and whose event n agrees in it, are the same up to
-- event n: this is how a caller proves that what it remembers is still true. A turn only appends at
-- the end; whoever changes a history in any other way, also by hand, gives its first event a new value.
CREATE TABLE [$(schema)].history
(
    instance_id   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id  BIGINT NOT NULL,
    event_id      BIGINT NOT NULL,
    appended_by   UNIQUEIDENTIFIER NOT NULL,
    payload_bytes BIGINT NOT NULL,
    payload       NVARCHAR(MAX) NOT NULL,
    CONSTRAINT pk_history PRIMARY KEY CLUSTERED (instance_id, execution_id, event_id)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].history SET (LOCK_ESCALATION = DISABLE);
GO

-- What ended executions left behind; the snapshot of a turn. The key is too wide for a clustered
-- index, so the rows of an instance lie together by kv_id and the natural key is unique beside it.
CREATE TABLE [$(schema)].kv_store
(
    instance_id   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    kv_id         BIGINT IDENTITY(1, 1) NOT NULL,
    kv_key        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    value_bytes   BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    kv_value      NVARCHAR(MAX) NOT NULL,
    CONSTRAINT pk_kv_store PRIMARY KEY CLUSTERED (instance_id, kv_id)
        WITH (STATISTICS_NORECOMPUTE = ON),
    CONSTRAINT uq_kv_store_key UNIQUE NONCLUSTERED (instance_id, kv_key)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].kv_store SET (LOCK_ESCALATION = DISABLE);
GO

-- What the running execution changed. A NULL value is a tombstone: the key is cleared. It has -1 bytes, so that nobody
-- needs to look at values to see it.
CREATE TABLE [$(schema)].kv_delta
(
    instance_id   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    kv_id         BIGINT IDENTITY(1, 1) NOT NULL,
    kv_key        NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    value_bytes   BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    kv_value      NVARCHAR(MAX) NULL,
    CONSTRAINT pk_kv_delta PRIMARY KEY CLUSTERED (instance_id, kv_id)
        WITH (STATISTICS_NORECOMPUTE = ON),
    CONSTRAINT uq_kv_delta_key UNIQUE NONCLUSTERED (instance_id, kv_key)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].kv_delta SET (LOCK_ESCALATION = DISABLE);
GO

-- Which sessions may have work for a worker that does not own them yet, by tag. not_before_ms is a
-- promise: no item of this session and tag can be claimed by a new owner before it. It may be too
-- early (the fetch that finds out corrects it), never too late. A row exists while items do.
CREATE TABLE [$(schema)].session_lanes
(
    lane_id       BIGINT IDENTITY(1, 1) NOT NULL,
    session_key   NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    tag_key       NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL,
    not_before_ms BIGINT NOT NULL,
    CONSTRAINT pk_session_lanes PRIMARY KEY CLUSTERED (lane_id)
        WITH (STATISTICS_NORECOMPUTE = ON),
    CONSTRAINT uq_session_lanes_key UNIQUE NONCLUSTERED (session_key, tag_key)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].session_lanes SET (LOCK_ESCALATION = DISABLE);
GO

CREATE INDEX ix_session_lanes_ready
    ON [$(schema)].session_lanes (tag_key, not_before_ms, lane_id) INCLUDE (session_key)
    WITH (STATISTICS_NORECOMPUTE = ON);
GO

-- Activities to run.
--   session_key, tag_key  '' for none, otherwise the text in square brackets: never NULL, so one
--                         seek serves both cases, and exact, because no key ends in a space
--   not_before_ms         while free, when it becomes visible; while held, the end of the lease
--   enqueued_at_ms        an item given back without delay returns to its old place
CREATE TABLE [$(schema)].worker_queue
(
    work_id        BIGINT IDENTITY(1, 1) NOT NULL,
    instance_id    NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    execution_id   BIGINT NOT NULL,
    activity_id    BIGINT NOT NULL,
    session_key    NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    tag_key        NVARCHAR(260) COLLATE Latin1_General_100_BIN2 NOT NULL,
    not_before_ms  BIGINT NOT NULL,
    enqueued_at_ms BIGINT NOT NULL,
    lock_token     UNIQUEIDENTIFIER NULL,
    attempt_count  INT NOT NULL,
    payload        NVARCHAR(MAX) NOT NULL,
    CONSTRAINT pk_worker_queue PRIMARY KEY CLUSTERED (work_id)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].worker_queue SET (LOCK_ESCALATION = DISABLE);
GO

-- lock_token is included for get_queue_depths; it changes only when not_before_ms does.
CREATE INDEX ix_worker_queue_ready
    ON [$(schema)].worker_queue (session_key, tag_key, not_before_ms, work_id) INCLUDE (lock_token)
    WITH (STATISTICS_NORECOMPUTE = ON);
GO

CREATE INDEX ix_worker_queue_activity
    ON [$(schema)].worker_queue (instance_id, execution_id, activity_id)
    WITH (STATISTICS_NORECOMPUTE = ON);
GO

CREATE TABLE [$(schema)].sessions
(
    session_key      NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    owner_id         NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
    locked_until_ms  BIGINT NOT NULL,
    last_activity_ms BIGINT NOT NULL,
    CONSTRAINT pk_sessions PRIMARY KEY CLUSTERED (session_key)
        WITH (STATISTICS_NORECOMPUTE = ON)
);
GO

ALTER TABLE [$(schema)].sessions SET (LOCK_ESCALATION = DISABLE);
GO

CREATE INDEX ix_sessions_owner
    ON [$(schema)].sessions (owner_id, locked_until_ms)
    WITH (STATISTICS_NORECOMPUTE = ON);
GO

-- The last counts of get_queue_depths and get_system_metrics, when there was much to count: one row for each
-- of the two questions, and NULL in the columns of the other one.
--   counted_at_ms      when they were counted; 0: never
--   counting_until_ms  until then somebody is counting them anew, and the others are content with these
CREATE TABLE [$(schema)].metrics_cache
(
    question            NVARCHAR(50) COLLATE Latin1_General_100_BIN2 NOT NULL,
    counted_at_ms       BIGINT NOT NULL,
    counting_until_ms   BIGINT NOT NULL,
    orchestrator_queue  BIGINT NULL,
    worker_queue        BIGINT NULL,
    total_instances     BIGINT NULL,
    total_executions    BIGINT NULL,
    running_instances   BIGINT NULL,
    completed_instances BIGINT NULL,
    failed_instances    BIGINT NULL,
    total_events        BIGINT NULL,
    CONSTRAINT pk_metrics_cache PRIMARY KEY CLUSTERED (question)
);
GO

INSERT INTO [$(schema)].metrics_cache (question, counted_at_ms, counting_until_ms)
VALUES (N'get_queue_depths', 0, 0), (N'get_system_metrics', 0, 0);
GO
