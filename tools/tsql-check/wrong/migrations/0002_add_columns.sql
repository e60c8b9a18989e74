-- Right: a later migration's columns count as the table's own.
ALTER TABLE [$(schema)].worker_queue
ADD attempts INT NOT NULL CONSTRAINT df_worker_queue_attempts DEFAULT (0);
