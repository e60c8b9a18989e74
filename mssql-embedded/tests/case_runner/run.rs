//! Runs one case on connections and in a schema of its own.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::task::JoinHandle;
use tracing::instrument::WithSubscriber;

use super::ask::ask;
use super::clean::clean_up;
use super::compare::{Answer, compare};
use super::listen::Ear;
use super::model::{Batch, Case};
use super::target::{Connection, Target};

/// Longer than any case takes, so that a hang fails by name.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long to wait before looking again whether a session is blocked.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// The number under which the embedded engine refuses what it does not implement.
const REFUSED: u32 = 40517;

/// The differences between what a case expects and what the server answers.
pub async fn run(case: &Case, target: &Target) -> Vec<String> {
    if case.snapshot.is_empty() {
        return run_under(case, target, None).await;
    }
    let mut differences = Vec::new();
    for on in &case.snapshot {
        let setting = if *on { "on" } else { "off" };
        let found = run_under(case, target, Some(*on)).await;
        differences.extend(
            found
                .into_iter()
                .map(|difference| format!("with READ_COMMITTED_SNAPSHOT {setting}: {difference}")),
        );
    }
    differences
}

async fn run_under(case: &Case, target: &Target, snapshot: Option<bool>) -> Vec<String> {
    match tokio::time::timeout(PATIENCE, run_case(case, target, snapshot)).await {
        Ok(Ok(differences)) => differences,
        Ok(Err(error)) => vec![format!("the case could not run: {error:#}")],
        Err(_) => vec![format!("no answer within {PATIENCE:?}")],
    }
}

async fn run_case(case: &Case, target: &Target, snapshot: Option<bool>) -> Result<Vec<String>> {
    let database = target.database_with(snapshot).await?;
    let mut stage = Stage::new(target, database, schema_name(case)).await?;
    for batch in &case.batches {
        stage.step(batch).await?;
    }
    let (differences, refusals) = stage.leave().await?;
    Ok(match &case.refused {
        Some(what) if !target.foreign => unless_refused(what, &refusals),
        _ => differences,
    })
}

/// A connection of a case: at rest, or waiting for the answer to a batch that blocks.
enum Line {
    Free(Box<Connection>),
    Waiting(JoinHandle<(Connection, Answer)>, Box<Batch>),
}

/// The connections of a case and what was found so far.
struct Stage<'a> {
    target: &'a Target,
    database: Option<String>,
    schema: String,
    lines: HashMap<String, Line>,
    /// Looks whether others are blocked; opened when first needed.
    observer: Option<Connection>,
    differences: Vec<String>,
    refusals: Vec<String>,
}

impl<'a> Stage<'a> {
    async fn new(target: &'a Target, database: Option<String>, schema: String) -> Result<Self> {
        let mut first = target.connect(database.as_deref(), None).await?;
        let create = format!("CREATE SCHEMA [{schema}]");
        first.simple_query(create).await?.into_results().await?;
        Ok(Self {
            target,
            database,
            schema,
            lines: HashMap::from([(String::new(), Line::Free(Box::new(first)))]),
            observer: None,
            differences: Vec::new(),
            refusals: Vec::new(),
        })
    }

    async fn step(&mut self, batch: &Batch) -> Result<()> {
        self.settle(&batch.connection).await?;
        let Some(mut connection) = self.connection(batch).await? else {
            return Ok(());
        };
        let text = batch.text.replace("$(s)", &self.schema);
        if text.trim().is_empty() {
            self.keep(batch, connection);
            return Ok(());
        }
        if batch.blocks {
            return self.start(batch.clone(), connection, text).await;
        }
        let answer = ask(&mut connection, batch, &text).await;
        self.judge(batch, &answer);
        self.keep(batch, connection);
        Ok(())
    }

    fn keep(&mut self, batch: &Batch, connection: Connection) {
        self.lines
            .insert(batch.connection.clone(), Line::Free(Box::new(connection)));
    }

    /// The connection of a batch, opened at its first use or for its login; `None` when the login was
    /// refused, which is then the answer.
    async fn connection(&mut self, batch: &Batch) -> Result<Option<Connection>> {
        let login = batch.login.as_ref().map(|(user, password)| {
            let fill = |text: &str| text.replace("$(s)", &self.schema);
            (fill(user), fill(password))
        });
        if login.is_none()
            && let Some(Line::Free(open)) = self.lines.remove(&batch.connection)
        {
            return Ok(Some(*open));
        }
        let ear = Ear::default();
        let opened = self
            .target
            .connect(self.database.as_deref(), login.as_ref())
            .with_subscriber(ear.clone())
            .await;
        match opened {
            Ok(connection) => Ok(Some(connection)),
            Err(error) if login.is_some() => {
                let answer = Answer {
                    error: Some(error.downcast()?),
                    overheard: ear.take(),
                    ..Answer::default()
                };
                self.judge(batch, &answer);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Sends a batch that is to wait for a lock, and makes sure that it does.
    async fn start(
        &mut self,
        batch: Batch,
        mut connection: Connection,
        text: String,
    ) -> Result<()> {
        let spid = session_id(&mut connection).await?;
        let sent = batch.clone();
        let task = tokio::spawn(async move {
            let answer = ask(&mut connection, &sent, &text).await;
            (connection, answer)
        });
        while !task.is_finished() && !self.is_blocked(spid).await? {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
        if task.is_finished() {
            self.differences.push(format!(
                "line {}: expected the batch to wait for a lock, it did not",
                batch.line
            ));
        }
        self.lines.insert(
            batch.connection.clone(),
            Line::Waiting(task, Box::new(batch)),
        );
        Ok(())
    }

    async fn is_blocked(&mut self, spid: i16) -> Result<bool> {
        let observer = match &mut self.observer {
            Some(observer) => observer,
            None => {
                let new = self.target.connect(self.database.as_deref(), None).await?;
                self.observer.insert(new)
            }
        };
        let query = format!(
            "SELECT COUNT(*) FROM sys.dm_tran_locks \
             WHERE request_session_id = {spid} AND request_status IN ('WAIT', 'CONVERT')"
        );
        let row = observer.simple_query(query).await?.into_row().await?;
        Ok(row.and_then(|row| row.get::<i32, _>(0)).unwrap_or(0) > 0)
    }

    /// Waits for the answer that a connection still owes.
    async fn settle(&mut self, name: &str) -> Result<()> {
        if !matches!(self.lines.get(name), Some(Line::Waiting(..))) {
            return Ok(());
        }
        if let Some(Line::Waiting(task, batch)) = self.lines.remove(name) {
            let (connection, answer) = task.await?;
            self.judge(&batch, &answer);
            self.keep(&batch, connection);
        }
        Ok(())
    }

    fn judge(&mut self, batch: &Batch, answer: &Answer) {
        self.refusals.extend(refusal(answer));
        self.differences.extend(
            compare(batch, answer, &self.schema)
                .into_iter()
                .map(|difference| format!("line {}: {difference}", batch.line)),
        );
    }

    /// Waits for all answers, then leaves the server as it was.
    async fn leave(mut self) -> Result<(Vec<String>, Vec<String>)> {
        let names: Vec<String> = self.lines.keys().cloned().collect();
        for name in names {
            self.settle(&name).await?;
        }
        self.lines.clear();
        if self.target.foreign {
            clean_up(self.target, self.database.as_deref(), &self.schema)
                .await
                .context("clean-up")?;
        }
        Ok((self.differences, self.refusals))
    }
}

async fn session_id(connection: &mut Connection) -> Result<i16> {
    let stream = connection.simple_query("SELECT @@SPID").await?;
    let row = stream.into_row().await?.context("@@SPID")?;
    match row.get(0) {
        Some(spid) => Ok(spid),
        None => bail!("@@SPID is NULL"),
    }
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
