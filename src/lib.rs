//! Microsoft SQL Server and Azure SQL storage provider for the durable-execution runtime
//! [duroxide](https://docs.rs/duroxide).
//!
//! [`MssqlProvider`] keeps orchestrations, their queues, timers and key-values in one schema of
//! a database. Give it to duroxide's `Runtime` and `Client`; several processes may share a
//! schema, and several schemas a database.
//!
//! ```no_run
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use duroxide::runtime::Runtime;
//! use duroxide::runtime::registry::{ActivityRegistry, OrchestrationRegistry};
//! use duroxide::{ActivityContext, Client, OrchestrationContext};
//! use duroxide_sql::MssqlProvider;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // DATABASE_URL="server=tcp:localhost,1433;database=orders;user id=app;password=…"
//! let store = Arc::new(MssqlProvider::from_env().await?);
//!
//! let activities = ActivityRegistry::builder()
//!     .register("Greet", |_: ActivityContext, name: String| async move {
//!         Ok(format!("Hello, {name}!"))
//!     })
//!     .build();
//! let orchestrations = OrchestrationRegistry::builder()
//!     .register("Greeting", |ctx: OrchestrationContext, name: String| async move {
//!         ctx.schedule_activity("Greet", name).await
//!     })
//!     .build();
//!
//! let runtime = Runtime::start_with_store(store.clone(), activities, orchestrations).await;
//! let client = Client::new(store.clone());
//! client.start_orchestration("greeting-1", "Greeting", "Rust").await?;
//! let status = client.wait_for_orchestration("greeting-1", Duration::from_secs(10)).await?;
//! println!("{status:?}");
//! runtime.shutdown(None).await;
//! // Gives back what was fetched and not finished, so that other processes go on at once.
//! store.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Settings
//!
//! [`MssqlProvider::builder`] takes a connection string, in ADO.NET's form or as a URL, and every other
//! setting. What the builder sets wins over the connection string, which wins over the environment.
//! An unknown option is an error, never ignored; ODBC and JDBC strings are refused with a hint.
//!
//! | Builder | Connection string | Environment | Default |
//! |---|---|---|---|
//! | [`new`](MssqlProviderBuilder::new), [`from_env`](MssqlProviderBuilder::from_env) | | `DATABASE_URL` | |
//! | `host`, `port`, `database` | `server=tcp:host,port`, `database` | | port 1433 |
//! | `user`, `password` | `user id`, `password` | | |
//! | [`token_source`](MssqlProviderBuilder::token_source) | | | none |
//! | [`encrypt`](MssqlProviderBuilder::encrypt) | `encrypt` = `true`, `strict`, `false` | | `true` |
//! | `trust_ca_file` | `trustServerCertificateCA` | | the system's authorities |
//! | `trust_server_certificate` | `trustServerCertificate` | | false |
//! | `host_name_in_certificate` | `hostNameInCertificate` | | the host |
//! | `application_name`, `workstation_id` | `application name`, `workstation id` | | `duroxide-sql/…`, the machine |
//! | `packet_size` | `packet size` | | the driver's |
//! | [`schema`](MssqlProviderBuilder::schema) | | `DUROXIDE_SQL_SCHEMA` | `duroxide` |
//! | `pool_max` | `max pool size` | `DUROXIDE_SQL_POOL_MAX` | 20 |
//! | `pool_min_idle` | `min pool size` | | 2 |
//! | `connect_timeout`, `command_timeout` | `connect timeout`, `command timeout` | | 15 s, 30 s |
//! | `acquire_timeout`, `startup_timeout` | | | as `connect_timeout`, 90 s |
//! | `idle_timeout`, `max_lifetime` | `load balance timeout` for the latter | | 10 min, 30 min |
//! | [`migration_policy`](MssqlProviderBuilder::migration_policy) | | | [`MigrationPolicy::Apply`] |
//! | [`polling`](MssqlProviderBuilder::polling) | | | [`Polling::Long`] |
//! | [`wait_for_work`](MssqlProviderBuilder::wait_for_work) | | `DUROXIDE_SQL_WAIT_FOR_WORK` | true |
//! | `history_cache_bytes` | | | 64 MiB |
//! | `slow_call_limit`, `pool_wait_limit` | | | 1 s each |
//! | [`lookup`](MssqlProviderBuilder::lookup) | | | the system's |
//!
//! # The schema
//!
//! With [`MigrationPolicy::Apply`] the provider installs and upgrades its schema itself. With
//! [`MigrationPolicy::Verify`] it runs no DDL: a DBA runs the script that [`install_script`] prints, and
//! gives the application a role that may execute the procedures and nothing else:
//!
//! ```sql
//! ALTER ROLE [orders_runtime] ADD MEMBER [orders_app];
//! ```
//!
//! The compatibility level of the database must be 130 or higher.
//!
//! # Azure SQL with a managed identity
//!
//! 1. Let the application's network in: a private endpoint, a virtual network rule, or a firewall rule
//!    of the server (error 40615 names the address that was refused).
//! 2. Make an Entra ID account the server's administrator. As that account, in the database and not in
//!    `master`, create a user for the managed identity and give it the schema's role:
//!
//!    ```sql
//!    CREATE USER [orders-app] FROM EXTERNAL PROVIDER;
//!    ALTER ROLE [duroxide_runtime] ADD MEMBER [orders-app];
//!    ```
//!
//!    The role is there once the schema is installed. A user that shall install it needs `CREATE SCHEMA`,
//!    `CREATE TABLE`, `CREATE PROCEDURE`, `CREATE VIEW` and `CREATE ROLE`, or membership in `db_owner`.
//! 3. With the feature `azure-identity`, the builder's `token_source` takes an `AzureIdentity`: `managed(None)` for the
//!    identity of the machine, App Service, Function or Container App, `managed(Some(client_id))` for a user-assigned one,
//!    `workload(None)` in Kubernetes, `developer()` for your own `az login`. Two environment variables are enough for
//!    the example `azure_entra`.
//! 4. Without that feature, give it any other [`TokenSource`]: a closure that fetches a token for
//!    `https://database.windows.net/`. Either is asked again before the token expires, and its token serves all
//!    connections.
//!
//! ```no_run
//! use std::sync::Arc;
//! use std::time::{Duration, SystemTime};
//! use duroxide_sql::{AccessToken, MssqlProvider, TokenError};
//!
//! # async fn example() -> Result<(), duroxide_sql::Error> {
//! let source = || async {
//!     // Whatever hands out tokens where you run; here a sidecar keeps a fresh one in a file.
//!     let secret = std::fs::read_to_string("/var/run/tokens/sql")
//!         .map_err(|error| TokenError::passing(error.to_string()))?;
//!     let expires_at = SystemTime::now() + Duration::from_secs(3600);
//!     Ok(AccessToken { secret, expires_at })
//! };
//! let store = MssqlProvider::builder("server=orders.database.windows.net;database=shop")
//!     .token_source(Arc::new(source))
//!     .build()
//!     .await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Observability
//!
//! - **Spans** at DEBUG: one per method, named after it, with `instance_id`, `activity_id`, `attempt`, `rows`,
//!   `retries`, `duration_ms`, `error_number`; inside it one `call` per procedure.
//! - **Events**: connections opened, failed and closed with their reason, repeated and slow calls, lost
//!   leases, refreshed tokens. The targets begin with `duroxide_sql`. Recommended filter:
//!   `info,tiberius=off`; the driver logs routine refusals at ERROR and rows at TRACE, so the provider keeps it
//!   quiet on its own connections.
//! - **Metrics** through the `metrics` facade, as duroxide's own: `provider.*` as its guide asks for, and
//!   `duroxide_sql_*` for calls, retries, connections, leases and the history cache.
//! - **Health**: [`MssqlProvider::ping`] and [`MssqlProvider::pool_status`].
//!
//! No payload, password or token is in any of it. `docs/observability.md` in the package lists every name,
//! level, field and unit.
//!
//! # Cargo features
//!
//! - `rustls` (default): TLS by rustls, with the authorities that the system trusts.
//! - `native-tls`: TLS by the system's own library (Schannel, Security Framework, OpenSSL), for those who
//!   must use it. It takes the place of `rustls`, so it goes with `default-features = false`.
//! - `azure-identity`: `AzureIdentity`, for managed identities, workload identities and the developer's
//!   own login, and the kinds of `authentication` in a connection string that mean them.
//!
//! # Errors
//!
//! Constructors return [`Error`], which knows the server's number and whether trying again may help. The
//! provider's methods return duroxide's `ProviderError`, whose `retryable` flag comes from [`classify`], for
//! acks, abandons and renewals from [`classify_settling`].

mod admin;
mod answer;
mod attempt;
mod auth;
mod callee;
mod codec;
mod connect_error;
mod deadline;
mod decode;
mod dial;
mod error;
mod exchange;
mod history_cache;
mod migrate;
mod observe;
mod operator;
mod options;
mod pool;
mod procedure;
mod provider;
mod retry;
mod schema_name;
mod server_errors;
mod time;
mod wakeup;

#[cfg(feature = "azure-identity")]
pub use auth::AzureIdentity;
pub use auth::{AccessToken, TokenError, TokenSource};
pub use connect_error::ConnectionError;
pub use migrate::{MigrateError, install_script, uninstall_script};
pub use operator::{Operator, Pace, Question, ServerFacts, View, ViewRow};
pub use options::{
    DEFAULT_SCHEMA, Encrypt, MigrationPolicy, MssqlProviderBuilder, OptionsError, Polling,
};
pub use pool::PoolStatus;
pub use provider::{Error, MssqlProvider};
pub use schema_name::{SchemaName, SchemaNameError};
pub use server_errors::{ErrorClass, classify, classify_settling};

/// Compiles the program in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
