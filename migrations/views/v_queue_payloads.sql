-- What every message and every activity to run carries, as duroxide wrote it.
--
-- Readers   <schema>_inspector: payloads may hold personal data
-- Units     none; queue and item_id are those of v_queue
CREATE OR ALTER VIEW [$(schema)].v_queue_payloads
AS
SELECT CAST(N'orchestrations' AS NVARCHAR(20)) AS queue, q.queue_id AS item_id, q.instance_id, q.payload
FROM   [$(schema)].orchestrator_queue AS q
UNION ALL
SELECT N'activities', w.work_id, w.instance_id, w.payload
FROM   [$(schema)].worker_queue AS w;
