//! An in-process engine that runs T-SQL over TDS with the locking of SQL Server.
