-- Removes activities from the worker queue, whether or not somebody is running them.
--
-- Callers   ack_orchestration_item, inside its transaction
-- Locks     worker_queue: the rows removed, found by ix_worker_queue_activity
-- Throws    nothing; an activity that is not there is none of our business
--
-- The worker that runs one notices at its next renewal or ack: its lease is gone.
CREATE OR ALTER PROCEDURE [$(schema)]._cancel_activities
    @cancelled_activities NVARCHAR(MAX)
AS
BEGIN
    SET NOCOUNT, XACT_ABORT ON;

    DECLARE @cancelled TABLE
    (
        instance_id  NVARCHAR(400) COLLATE Latin1_General_100_BIN2 NOT NULL,
        execution_id BIGINT NOT NULL,
        activity_id  BIGINT NOT NULL,
        PRIMARY KEY (instance_id, execution_id, activity_id)
    );

    INSERT INTO @cancelled (instance_id, execution_id, activity_id)
    SELECT DISTINCT j.instance_id COLLATE Latin1_General_100_BIN2, j.execution_id, j.activity_id
    FROM   OPENJSON(@cancelled_activities)
           WITH (instance_id NVARCHAR(400) '$.instance_id', execution_id BIGINT '$.execution_id',
                 activity_id BIGINT '$.activity_id') AS j
    WHERE  j.instance_id IS NOT NULL
      AND  j.execution_id IS NOT NULL
      AND  j.activity_id IS NOT NULL;

    DELETE q
    FROM   [$(schema)].worker_queue AS q WITH (ROWLOCK)
    INNER JOIN @cancelled AS c
           ON  c.instance_id = q.instance_id
    WHERE  c.execution_id = q.execution_id
      AND  c.activity_id = q.activity_id;
END;
