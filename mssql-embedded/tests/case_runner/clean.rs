//! Removes what a case made on a server that outlives it.

use anyhow::Result;

use super::target::{Connection, Target};

/// Drops what a case made, objects first. Repeats while references keep some from being dropped.
pub async fn clean_up(target: &Target, database: Option<&str>, schema: &str) -> Result<()> {
    let mut connection = target.connect(database, None).await?;
    let objects = format!(
        "SELECT CASE o.type WHEN 'P' THEN 'PROCEDURE' WHEN 'V' THEN 'VIEW' WHEN 'U' THEN 'TABLE' \
         WHEN 'SN' THEN 'SYNONYM' WHEN 'SO' THEN 'SEQUENCE' ELSE 'FUNCTION' END, o.name \
         FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id \
         WHERE s.name = N'{schema}' AND o.type IN ('P', 'V', 'U', 'SN', 'SO', 'FN', 'IF', 'TF')"
    );
    for _ in 0..3 {
        for (kind, name) in pairs(&mut connection, &objects).await? {
            // A table that others refer to falls in a later round; the last DROP SCHEMA tells.
            let name = name.replace(']', "]]");
            attempt(&mut connection, &format!("DROP {kind} [{schema}].[{name}]")).await;
        }
    }
    for (kind, view) in [
        ("USER", "sys.database_principals"),
        ("ROLE", "sys.database_principals"),
        ("LOGIN", "sys.server_principals"),
    ] {
        let named = format!("SELECT name, name FROM {view} WHERE name LIKE N'{schema}[_]%'");
        for (name, _) in pairs(&mut connection, &named).await? {
            attempt(&mut connection, &format!("DROP {kind} [{name}]")).await;
        }
    }
    connection
        .simple_query(format!("DROP SCHEMA [{schema}]"))
        .await?
        .into_results()
        .await?;
    Ok(())
}

async fn pairs(connection: &mut Connection, query: &str) -> Result<Vec<(String, String)>> {
    let stream = connection.simple_query(query).await?;
    let rows = stream.into_first_result().await?;
    let text = |row: &tiberius::Row, at: usize| row.get::<&str, _>(at).unwrap_or("").to_owned();
    Ok(rows
        .iter()
        .map(|row| (text(row, 0), text(row, 1)))
        .collect())
}

async fn attempt(connection: &mut Connection, statement: &str) {
    if let Ok(stream) = connection.simple_query(statement).await {
        stream.into_results().await.ok();
    }
}
