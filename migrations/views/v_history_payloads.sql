-- What every recorded event carries, as duroxide wrote it: inputs, results, errors.
--
-- Readers   <schema>_inspector: payloads may hold personal data
-- Units     payload_bytes: bytes in UTF-8
CREATE OR ALTER VIEW [$(schema)].v_history_payloads
AS
SELECT h.instance_id, h.execution_id, h.event_id, h.payload_bytes, h.payload
FROM   [$(schema)].history AS h;
