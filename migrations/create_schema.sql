-- Creates the schema that everything else goes into.
--
-- A batch of its own because CREATE SCHEMA must be the only statement of its batch. Run it only
-- when the schema does not exist; an existing schema may be used as it is.
CREATE SCHEMA [$(schema)];
