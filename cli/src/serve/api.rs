//! What the page asks, answered as JSON.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use duroxide::providers::ProviderError;
use duroxide_sql::{Question, View};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Page;
use crate::story::{Executions, Story};

const ROWS_PER_PAGE: u64 = 50;
/// More than anybody turns, and still a number of the server's in rows.
const PAGES_MAX: u64 = 1_000_000_000;
/// No id is longer, and SQL Server searches for texts up to 4,000 characters only.
const SEARCH_MAX: usize = 400;

type Answer = Result<Json<Value>, Response>;

/// An answer that says no.
pub fn refused(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}

/// The library's errors hold no secrets, so whoever may ask may read them.
fn failed(error: impl std::fmt::Display) -> Response {
    refused(StatusCode::BAD_GATEWAY, &error.to_string())
}

/// What will fail again is the asker's matter, the rest the server's.
fn not_done(error: ProviderError) -> Response {
    let status = if error.is_retryable() {
        StatusCode::SERVICE_UNAVAILABLE
    } else {
        StatusCode::CONFLICT
    };
    refused(status, &error.to_string())
}

pub async fn nothing() -> Response {
    refused(StatusCode::NOT_FOUND, "there is nothing here")
}

pub async fn about(State(page): State<Arc<Page>>) -> Json<Value> {
    Json(json!({
        "schema": page.schema,
        "release": env!("CARGO_PKG_VERSION"),
        "allow_changes": page.allow_changes,
    }))
}

pub async fn overview(State(page): State<Arc<Page>>) -> Answer {
    let read = page.pulse.read(&page.operator).await;
    let (glance, samples) = read.map_err(failed)?;
    Ok(Json(json!({ "glance": glance, "samples": samples })))
}

/// Which instances.
#[derive(Debug, Deserialize)]
pub struct Wanted {
    #[serde(default)]
    search: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    roots: bool,
    #[serde(default)]
    page: u64,
}

pub async fn instances(State(page): State<Arc<Page>>, Query(wanted): Query<Wanted>) -> Answer {
    if wanted.search.chars().count() > SEARCH_MAX {
        let why = "nothing has a name this long; search for less";
        return Err(refused(StatusCode::BAD_REQUEST, why));
    }
    let nth = wanted.page.clamp(1, PAGES_MAX);
    // One row more than is shown tells whether there is a next page.
    let mut question = Question::of(View::Instances)
        .ordered_down_by("created_at_utc")
        .ordered_by("instance_id")
        .page((nth - 1).saturating_mul(ROWS_PER_PAGE), ROWS_PER_PAGE + 1);
    if !wanted.search.is_empty() {
        question = question.contains(&["instance_id", "orchestration_name"], &wanted.search);
    }
    if !wanted.state.is_empty() {
        question = question.equals("state", &wanted.state);
    }
    if wanted.roots {
        question = question.is_null("parent_instance_id");
    }
    let mut rows = page.operator.rows(&question).await.map_err(failed)?;
    let has_next = rows.len() as u64 > ROWS_PER_PAGE;
    rows.truncate(usize::try_from(ROWS_PER_PAGE).unwrap_or(usize::MAX));
    Ok(Json(
        json!({ "rows": rows, "page": nth, "has_next": has_next }),
    ))
}

/// Which instance, and which of its executions.
#[derive(Debug, Deserialize)]
pub struct Which {
    id: String,
    execution: Option<i64>,
}

pub async fn instance(State(page): State<Arc<Page>>, Query(which): Query<Which>) -> Answer {
    let wanted = which
        .execution
        .map_or(Executions::Current, Executions::Number);
    let story = Story::read(&page.operator, &which.id, wanted).await;
    let Some(story) = story.map_err(failed)? else {
        let why = "there is no instance of this id";
        return Err(refused(StatusCode::NOT_FOUND, why));
    };
    let question = Question::of(View::KeyValues)
        .equals("instance_id", &which.id)
        .ordered_by("kv_key");
    let key_values = page.operator.rows(&question).await;
    let hidden = match (&story.payloads, &key_values) {
        (Err(why), _) => Some(why.clone()),
        (Ok(_), Err(error)) => Some(error.to_string()),
        (Ok(_), Ok(_)) => None,
    };
    Ok(Json(json!({
        "bars": story.bars(),
        "turns": story.turns(),
        "now_ms": story.now_ms(),
        "instance": story.instance,
        "executions": story.executions,
        "waiting": story.waiting,
        "children": story.children,
        "history": story.events,
        "is_cut": story.is_cut,
        "payloads": story.payloads.ok().flatten(),
        "key_values": key_values.ok(),
        "payloads_hidden": hidden,
    })))
}

/// One recorded event.
#[derive(Debug, Deserialize)]
pub struct OneEvent {
    id: String,
    execution: i64,
    event: i64,
}

pub async fn event(State(page): State<Arc<Page>>, Query(one): Query<OneEvent>) -> Answer {
    let question = Question::of(View::HistoryPayloads)
        .equals("instance_id", &one.id)
        .equals_number("execution_id", one.execution)
        .equals_number("event_id", one.event);
    let rows = page.operator.rows(&question).await.map_err(failed)?;
    match rows.into_iter().next() {
        Some(row) => Ok(Json(Value::Object(row))),
        None => Err(refused(StatusCode::NOT_FOUND, "there is no such event")),
    }
}

/// What to cancel.
#[derive(Debug, Deserialize)]
pub struct Cancel {
    instance_id: String,
    reason: String,
}

pub async fn cancel(State(page): State<Arc<Page>>, Json(wanted): Json<Cancel>) -> Answer {
    let done = page.operator.cancel(&wanted.instance_id, &wanted.reason);
    done.await.map_err(not_done)?;
    Ok(Json(json!({ "outcome": "asked" })))
}

/// What to raise.
#[derive(Debug, Deserialize)]
pub struct Raise {
    instance_id: String,
    name: String,
    data: String,
}

pub async fn raise(State(page): State<Arc<Page>>, Json(wanted): Json<Raise>) -> Answer {
    let done = page
        .operator
        .raise(&wanted.instance_id, &wanted.name, &wanted.data);
    done.await.map_err(not_done)?;
    Ok(Json(json!({ "outcome": "raised" })))
}
