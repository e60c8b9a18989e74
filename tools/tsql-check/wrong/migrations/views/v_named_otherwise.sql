-- One row per instance.
--
-- Readers   <schema>_inspector
CREATE OR ALTER VIEW [$(schema)].v_other_name -- wrong: view-file: its file v_named_otherwise -- wrong: view-file: no line Units
AS
SELECT i.instance_id
FROM   [$(schema)].instances AS i WITH (NOLOCK); -- wrong: nolock: NOLOCK
