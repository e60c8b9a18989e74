-- One row per instance.
--
-- Readers   <schema>_observer
-- Units     none
CREATE OR ALTER VIEW [$(schema)].v_wrong_column
AS
SELECT i.no_such_column -- wrong: binding: no_such_column -- wrong: binding: SqlComputedColumn
FROM   [$(schema)].instances AS i;
