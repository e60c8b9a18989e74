//! Reading and writing rows under the locks that SQL Server would take.
