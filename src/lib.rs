//! Microsoft SQL Server and Azure SQL storage provider for duroxide.
