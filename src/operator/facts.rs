//! What decides whether a database can be used, and how well.

use std::time::Duration;

use super::Operator;
use crate::error::CallError;
use crate::migrate::Role;
use crate::options::Encrypt;
use crate::procedure::Record;
use crate::schema_name::SchemaName;

/// A server, a database and a login, as they say it themselves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerFacts {
    /// Host and port.
    pub server: String,
    /// The server's version, such as `15.0.4430.1`.
    pub product_version: String,
    /// The database.
    pub database: String,
    /// The database user of this login.
    pub user: String,
    /// How the connection is encrypted.
    pub encrypt: Encrypt,
    /// Whether any certificate is accepted.
    pub trusts_any_certificate: bool,
    /// The database's compatibility level.
    pub compatibility_level: i64,
    /// READ_COMMITTED_SNAPSHOT.
    pub snapshot_reads: bool,
    /// `DISABLED`, `ALLOWED` or `FORCED`; `None` when the server does not say.
    pub delayed_durability: Option<String>,
    /// May create tables, procedures, views and roles here.
    pub may_install: bool,
    /// The roles of the schema that the login is a member of: runtime, observer, inspector.
    pub roles: Vec<&'static str>,
    /// The server's clock minus this machine's, as far as the round trip lets it be known.
    pub clock_difference_ms: i64,
    /// The shortest of a few round trips.
    pub round_trip: Duration,
}

/// Enough to find the shortest.
const ROUND_TRIPS: usize = 5;

pub(super) async fn read(operator: &Operator) -> Result<ServerFacts, CallError> {
    let options = operator.provider.database.options.clone();
    let mut round_trip = Duration::MAX;
    for _ in 0..ROUND_TRIPS {
        round_trip = round_trip.min(operator.round_trip().await?);
    }
    let sets = operator.ask(&query(&options.schema)).await?;
    let now_ms = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |elapsed| i64::try_from(elapsed.as_millis()).unwrap_or(0));
    let row = sets
        .into_iter()
        .next_back()
        .and_then(|rows| rows.into_iter().next());
    let row = row.ok_or_else(|| CallError::Data("the server says nothing of itself".to_owned()))?;
    let row = Record::new("(facts)", row);
    let roles = [
        ("runtime", row.opt_int("is_runtime")?),
        ("observer", row.opt_int("is_observer")?),
        ("inspector", row.opt_int("is_inspector")?),
    ];
    Ok(ServerFacts {
        server: options.server(),
        product_version: row.text("product_version")?.to_owned(),
        database: row.text("database_name")?.to_owned(),
        user: row.text("user_name")?.to_owned(),
        encrypt: options.encrypt,
        trusts_any_certificate: options.trust_server_certificate,
        compatibility_level: row.int("compatibility_level")?,
        snapshot_reads: row.int("snapshot_reads")? != 0,
        delayed_durability: delayed_durability(operator).await,
        may_install: row.int("may_install")? != 0,
        roles: roles
            .into_iter()
            .filter_map(|(role, member)| (member == Some(1)).then_some(role))
            .collect(),
        clock_difference_ms: row.int("server_ms")? - now_ms,
        round_trip,
    })
}

/// A question of its own: not every server of the family has the column.
async fn delayed_durability(operator: &Operator) -> Option<String> {
    let text = "SELECT d.delayed_durability_desc FROM sys.databases AS d WHERE d.name = DB_NAME();";
    let sets = operator.ask(text).await.ok()?;
    let row = sets.into_iter().next()?.into_iter().next()?;
    row.try_get::<&str, _>(0).ok()?.map(ToOwned::to_owned)
}

fn query(schema: &SchemaName) -> String {
    let member = |role: Role| {
        let name = role.name(schema).replace('\'', "''");
        format!("IS_ROLEMEMBER(N'{name}')")
    };
    let runtime = member(Role::Runtime);
    let (observer, inspector) = (member(Role::Observer), member(Role::Inspector));
    let may = |permission: &str| {
        format!("HAS_PERMS_BY_NAME(DB_NAME(), N'DATABASE', N'{permission}') = 1")
    };
    let may_install = [
        "CREATE TABLE",
        "CREATE PROCEDURE",
        "CREATE VIEW",
        "CREATE ROLE",
    ]
    .map(may)
    .join(" AND ");
    format!(
        "SELECT CAST(SERVERPROPERTY('ProductVersion') AS NVARCHAR(128)) AS product_version,\n\
         DB_NAME() AS database_name, USER_NAME() AS user_name,\n\
         CAST(d.compatibility_level AS INT) AS compatibility_level,\n\
         d.is_read_committed_snapshot_on AS snapshot_reads,\n\
         CASE WHEN {may_install} THEN 1 ELSE 0 END AS may_install,\n\
         {runtime} AS is_runtime,\n\
         {observer} AS is_observer,\n\
         {inspector} AS is_inspector,\n\
         DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME()) AS server_ms\n\
         FROM sys.databases AS d WHERE d.name = DB_NAME();\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A role is asked for by the name that the installation gave it, which is cut to fit.
    #[test]
    fn roles_of_a_long_schema_name_are_asked_for_by_their_cut_names() {
        let schema = SchemaName::new("it's".repeat(32)).expect("a name of 128 characters");
        let query = query(&schema);
        let cut = |length: usize| "it's".repeat(32)[..length].replace('\'', "''");
        for role in [
            cut(120) + "_runtime",
            cut(119) + "_observer",
            cut(118) + "_inspector",
        ] {
            let question = format!("IS_ROLEMEMBER(N'{role}')");
            assert!(query.contains(&question), "{question}\n{query}");
        }
    }
}
