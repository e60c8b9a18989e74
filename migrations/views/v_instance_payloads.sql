-- What an instance tells about itself: its custom status, and its output or error.
--
-- Readers   <schema>_inspector: payloads may hold personal data
-- Units     none; output is the result of a completed execution and the error of a failed one
CREATE OR ALTER VIEW [$(schema)].v_instance_payloads
AS
SELECT i.instance_id, i.status, i.custom_status, i.custom_status_version, e.output
FROM   [$(schema)].instances AS i
LEFT JOIN [$(schema)].executions AS e
       ON  e.instance_id = i.instance_id
      AND  e.execution_id = i.current_execution_id;
