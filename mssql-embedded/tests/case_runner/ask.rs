//! Sends one batch and collects its answer.

use futures_util::TryStreamExt;
use tiberius::{CommandItem, QueryItem, Row};
use tracing::instrument::WithSubscriber;

use super::call::Call;
use super::compare::{Answer, AnswerSet};
use super::format;
use super::listen::Ear;
use super::model::Batch;
use super::target::Connection;

/// Sends the text of a batch in the way its expectations need, and listens to the answer.
pub async fn ask(connection: &mut Connection, batch: &Batch, text: &str) -> Answer {
    let ear = Ear::default();
    let mut answer = Answer::default();
    let outcome = send(connection, batch, text, &mut answer)
        .with_subscriber(ear.clone())
        .await;
    answer.error = outcome.err();
    answer.overheard = ear.take();
    for (set, types) in answer.sets.iter_mut().zip(&answer.overheard.columns) {
        for ((_, ty), full) in set.columns.iter_mut().zip(types) {
            ty.clone_from(full);
        }
    }
    answer
}

async fn send(
    connection: &mut Connection,
    batch: &Batch,
    text: &str,
    answer: &mut Answer,
) -> Result<(), tiberius::error::Error> {
    if batch.expect.needs_call() {
        return call(connection, text, answer).await;
    }
    // Row counts reach the caller only through `execute`, which wraps the text in sp_executesql.
    if batch.expect.rowcounts.is_some() {
        let result = connection.execute(text, &[]).await?;
        answer.rowcounts = result.rows_affected().to_vec();
        return Ok(());
    }
    let mut stream = connection.simple_query(text).await?;
    while let Some(item) = stream.try_next().await? {
        match item {
            QueryItem::Metadata(metadata) => answer.sets.push(begin(metadata.columns())),
            QueryItem::Row(row) => add(answer, &row),
        }
    }
    Ok(())
}

async fn call(
    connection: &mut Connection,
    text: &str,
    answer: &mut Answer,
) -> Result<(), tiberius::error::Error> {
    let call = Call::parse(text)
        .map_err(|error| tiberius::error::Error::Protocol(error.to_string().into()))?;
    let mut stream = call.command().exec(connection).await?;
    while let Some(item) = stream.try_next().await? {
        match item {
            CommandItem::Metadata(metadata) => answer.sets.push(begin(metadata.columns())),
            CommandItem::Row(row) => add(answer, &row),
            CommandItem::ReturnStatus(status) => answer.status = Some(status.cast_signed()),
            CommandItem::ReturnValue(value) => answer
                .outputs
                .push((value.name().to_owned(), format::value(value.data()))),
            CommandItem::RowsAffected(rows) => answer.rowcounts.push(rows),
        }
    }
    Ok(())
}

fn begin(columns: &[tiberius::Column]) -> AnswerSet {
    let columns = columns.iter();
    AnswerSet {
        columns: columns
            .map(|column| (column.name().to_owned(), String::new()))
            .collect(),
        rows: Vec::new(),
    }
}

fn add(answer: &mut Answer, row: &Row) {
    let values = row.cells().map(|(_, data)| format::value(data)).collect();
    if let Some(set) = answer.sets.last_mut() {
        set.rows.push(values);
    }
}
