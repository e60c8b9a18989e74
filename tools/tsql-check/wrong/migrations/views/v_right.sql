-- One row per instance.
--
-- Readers   <schema>_observer
-- Units     none
CREATE OR ALTER VIEW [$(schema)].v_right
AS
SELECT i.instance_id
FROM   [$(schema)].instances AS i;
