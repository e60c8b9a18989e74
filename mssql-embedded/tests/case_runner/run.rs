//! Runs one case on a connection and in a schema of its own.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Duration;

use anyhow::Result;
use futures_util::TryStreamExt;
use tiberius::QueryItem;

use super::compare::{Answer, AnswerSet, compare};
use super::format;
use super::listen::Ear;
use super::model::{Batch, Case};
use super::target::{Connection, Target};

/// Longer than any case takes, so that a hang fails by name.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number under which the embedded engine refuses what it does not implement.
const REFUSED: u32 = 40517;

/// The differences between what a case expects and what the server answers.
pub async fn run(case: &Case, target: &Target) -> Vec<String> {
    match tokio::time::timeout(PATIENCE, run_case(case, target)).await {
        Ok(Ok(differences)) => differences,
        Ok(Err(error)) => vec![format!("the case could not run: {error:#}")],
        Err(_) => vec![format!("no answer within {PATIENCE:?}")],
    }
}

async fn run_case(case: &Case, target: &Target) -> Result<Vec<String>> {
    let ear = Ear::new();
    let mut connections = HashMap::from([(String::new(), target.connect().await?)]);
    let schema = schema_name(case);
    connection(&mut connections, "", target)
        .await?
        .simple_query(format!("CREATE SCHEMA [{schema}]"))
        .await?
        .into_results()
        .await?;
    let mut differences = Vec::new();
    let mut refusals = Vec::new();
    for batch in &case.batches {
        let text = batch.text.replace("$(s)", &schema);
        let connection = connection(&mut connections, &batch.connection, target).await?;
        ear.take();
        let mut answer = ask(connection, batch, &text).await;
        answer.overheard = ear.take();
        refusals.extend(refusal(&answer));
        differences.extend(
            compare(batch, &answer, &schema)
                .into_iter()
                .map(|difference| format!("line {}: {difference}", batch.line)),
        );
    }
    drop(connections);
    if target.foreign {
        clean_up(target, &schema).await?;
    }
    Ok(match &case.refused {
        Some(what) if !target.foreign => unless_refused(what, &refusals),
        _ => differences,
    })
}

/// The message of a refusal by the embedded engine.
fn refusal(answer: &Answer) -> Option<String> {
    match &answer.error {
        Some(tiberius::error::Error::Server(e)) if e.code() == REFUSED => {
            Some(e.message().to_owned())
        }
        _ => None,
    }
}

/// A case that states what the engine refuses passes when exactly that is refused by name.
fn unless_refused(what: &str, refusals: &[String]) -> Vec<String> {
    match refusals.first() {
        Some(message) if message.contains(what) => Vec::new(),
        Some(message) => vec![format!("expected {what} to be refused, got: {message}")],
        None => vec![format!(
            "{what} is no longer refused; drop the line that says so"
        )],
    }
}

/// The connection of that name, opened at its first use.
async fn connection<'a>(
    connections: &'a mut HashMap<String, Connection>,
    name: &str,
    target: &Target,
) -> Result<&'a mut Connection> {
    Ok(match connections.entry(name.to_owned()) {
        Entry::Occupied(open) => open.into_mut(),
        Entry::Vacant(new) => new.insert(target.connect().await?),
    })
}

/// Names are unique among runs by the process id and the time, and among cases by a counter.
fn schema_name(case: &Case) -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
        .subsec_nanos();
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let topic: String = case.topic.chars().take(20).collect();
    format!("case_{topic}_{}_{now}_{count}", std::process::id())
}

async fn ask(connection: &mut Connection, batch: &Batch, text: &str) -> Answer {
    let mut answer = Answer::default();
    // Row counts reach the caller only through `execute`, which wraps the text in sp_executesql.
    if batch.expect.rowcounts.is_some() {
        match connection.execute(text, &[]).await {
            Ok(result) => answer.rowcounts = result.rows_affected().to_vec(),
            Err(error) => answer.error = Some(error),
        }
        return answer;
    }
    if let Err(error) = read_sets(connection, text, &mut answer.sets).await {
        answer.error = Some(error);
    }
    answer
}

async fn read_sets(
    connection: &mut Connection,
    text: &str,
    sets: &mut Vec<AnswerSet>,
) -> Result<(), tiberius::error::Error> {
    let mut stream = connection.simple_query(text).await?;
    while let Some(item) = stream.try_next().await? {
        match item {
            QueryItem::Metadata(metadata) => sets.push(AnswerSet {
                columns: metadata
                    .columns()
                    .iter()
                    .map(|c| {
                        (
                            c.name().to_owned(),
                            format::type_name(c.column_type()).to_owned(),
                        )
                    })
                    .collect(),
                rows: Vec::new(),
            }),
            QueryItem::Row(row) => {
                let values = row.cells().map(|(_, data)| format::value(data)).collect();
                if let Some(set) = sets.last_mut() {
                    set.rows.push(values);
                }
            }
        }
    }
    Ok(())
}

/// Drops what a case made, objects first. Repeats while references keep some from being dropped.
async fn clean_up(target: &Target, schema: &str) -> Result<()> {
    let mut connection = target.connect().await?;
    let query = format!(
        "SELECT CASE o.type WHEN 'P' THEN 'PROCEDURE' WHEN 'V' THEN 'VIEW' ELSE 'TABLE' END, o.name \
         FROM sys.objects o JOIN sys.schemas s ON s.schema_id = o.schema_id \
         WHERE s.name = N'{schema}' AND o.type IN ('P', 'V', 'U')"
    );
    for _ in 0..3 {
        let rows = connection
            .simple_query(&query)
            .await?
            .into_first_result()
            .await?;
        for row in rows {
            let kind: &str = row.get(0).unwrap_or_default();
            let name: &str = row.get(1).unwrap_or_default();
            let drop = format!("DROP {kind} [{schema}].[{}]", name.replace(']', "]]"));
            // A table that others refer to falls in a later round; the last DROP SCHEMA tells.
            if let Ok(stream) = connection.simple_query(drop).await {
                stream.into_results().await.ok();
            }
        }
    }
    let users = format!("SELECT name FROM sys.database_principals WHERE name LIKE N'{schema}[_]%'");
    let rows = connection
        .simple_query(users)
        .await?
        .into_first_result()
        .await?;
    for row in rows {
        let name: &str = row.get(0).unwrap_or_default();
        for kind in ["USER", "ROLE"] {
            if let Ok(stream) = connection
                .simple_query(format!("DROP {kind} [{name}]"))
                .await
            {
                stream.into_results().await.ok();
            }
        }
    }
    connection
        .simple_query(format!("DROP SCHEMA [{schema}]"))
        .await?
        .into_results()
        .await?;
    Ok(())
}
