-- Removes activities from the worker queue, whether or not somebody is running them.
--
-- Callers   ack_orchestration_item, inside its transaction
-- Locks     worker_queue: the rows removed
-- Throws    nothing; an activity that is not there is none of our business
--
-- The worker that runs one notices at its next renewal or ack: its lease is gone.
--
-- The activities are looked up first, without keeping a lock, and deleted by their key. Writers of
-- worker_queue lock the row before its index entries; a delete that came through an index would meet
-- the ack of the same activity half-way.
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
    DECLARE @work TABLE (work_id BIGINT NOT NULL PRIMARY KEY);

    INSERT INTO @cancelled (instance_id, execution_id, activity_id)
    SELECT DISTINCT j.instance_id COLLATE Latin1_General_100_BIN2, j.execution_id, j.activity_id
    FROM   OPENJSON(@cancelled_activities)
           WITH (instance_id NVARCHAR(400) '$.instance_id', execution_id BIGINT '$.execution_id',
                 activity_id BIGINT '$.activity_id') AS j
    WHERE  j.instance_id IS NOT NULL
      AND  j.execution_id IS NOT NULL
      AND  j.activity_id IS NOT NULL;

    INSERT INTO @work (work_id)
    SELECT q.work_id
    FROM   @cancelled AS c
    INNER JOIN [$(schema)].worker_queue AS q
               WITH (INDEX(ix_worker_queue_activity), FORCESEEK, ROWLOCK, READCOMMITTEDLOCK)
           ON  q.instance_id = c.instance_id
          AND  q.execution_id = c.execution_id
          AND  q.activity_id = c.activity_id
    OPTION (KEEPFIXED PLAN);

    DELETE q
    FROM   [$(schema)].worker_queue AS q WITH (INDEX(pk_worker_queue), FORCESEEK, ROWLOCK)
    WHERE  q.work_id IN (SELECT w.work_id FROM @work AS w)
    OPTION (KEEPFIXED PLAN);
END;
