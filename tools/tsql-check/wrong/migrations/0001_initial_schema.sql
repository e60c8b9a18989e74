-- Right: the tables that the wrong scripts use. Nothing here may be reported.
IF SCHEMA_ID(N'$(schema)') IS NULL
BEGIN
    EXEC (N'CREATE SCHEMA [$(schema)]');
END;
GO

CREATE TABLE [$(schema)].instance_locks
(
    instance_id    NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    not_before_ms  BIGINT NOT NULL,
    CONSTRAINT pk_instance_locks PRIMARY KEY CLUSTERED (instance_id)
);
GO

CREATE TABLE [$(schema)].instances
(
    instance_id  NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    status       NVARCHAR(40) NOT NULL CONSTRAINT df_instances_status DEFAULT (N'Running'),
    CONSTRAINT pk_instances PRIMARY KEY CLUSTERED (instance_id)
);
GO

CREATE TABLE [$(schema)].worker_queue
(
    id           BIGINT IDENTITY(1, 1) NOT NULL,
    instance_id  NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NOT NULL,
    lock_token   NVARCHAR(64) NULL,
    payload      NVARCHAR(MAX) NOT NULL,
    CONSTRAINT pk_worker_queue PRIMARY KEY CLUSTERED (id)
);
GO

CREATE INDEX ix_worker_queue_lock_token ON [$(schema)].worker_queue (lock_token);
GO

CREATE TABLE [$(schema)].ledger
(
    number  INT NOT NULL,
    CONSTRAINT pk_ledger PRIMARY KEY CLUSTERED (number)
);
GO
