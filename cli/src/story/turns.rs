//! The turns of an execution, read from who recorded its events.

use duroxide_sql::ViewRow;
use serde::Serialize;

use crate::output::{cell, number};

/// The version digit of the tokens of turns; a token that replaces one at random has another.
const TURN_VERSION: u8 = b'8';
const VERSION_AT: usize = 14;
const WORKER_DIGITS: usize = 12;

/// Events that were recorded together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Turn {
    /// From 1 in each execution.
    pub number: usize,
    /// The execution.
    pub execution_id: i64,
    /// Its first event.
    pub first_event_id: i64,
    /// How many events it recorded.
    pub events: usize,
    /// The process that ran it, as `v_workers` names it.
    pub worker_id: Option<String>,
}

/// The turns in the order in which they were recorded.
///
/// When events arrive outside of a turn the first event's token is replaced, so that event is taken
/// to belong to what follows it.
pub fn turns(events: &[ViewRow]) -> Vec<Turn> {
    let mut found: Vec<Turn> = Vec::new();
    let mut previous = String::new();
    for event in events {
        let token = cell(event, "turn_id");
        let execution_id = number(event, "execution_id");
        let same_execution = found
            .last()
            .filter(|turn| turn.execution_id == execution_id);
        let number_before = same_execution.map_or(0, |turn| turn.number);
        let is_same = number_before > 0
            && (token == previous || (number_before == 1 && worker(&previous).is_none()));
        match found.last_mut() {
            Some(turn) if is_same => {
                turn.events += 1;
                turn.worker_id = worker(&token);
            }
            _ => found.push(Turn {
                number: number_before + 1,
                execution_id,
                first_event_id: number(event, "event_id"),
                events: 1,
                worker_id: worker(&token),
            }),
        }
        previous = token;
    }
    found
}

fn worker(token: &str) -> Option<String> {
    let is_turn = token.as_bytes().get(VERSION_AT) == Some(&TURN_VERSION);
    let at = token.len().checked_sub(WORKER_DIGITS)?;
    is_turn.then(|| token.get(at..).map(ToOwned::to_owned))?
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "0192f000-0001-8000-8000-aaaaaaaaaaaa";
    const SECOND: &str = "0192f000-0002-8000-8000-bbbbbbbbbbbb";
    const REPLACED: &str = "0b21c9a4-0001-4000-8000-cccccccccccc";

    fn events(tokens: &[(i64, &str)]) -> Vec<ViewRow> {
        let rows = (1..).zip(tokens).map(|(id, (execution, token))| {
            let row = serde_json::json!({
                "event_id": id, "execution_id": execution, "turn_id": token,
            });
            row.as_object().cloned().unwrap_or_default()
        });
        rows.collect()
    }

    fn summary(tokens: &[(i64, &str)]) -> Vec<(usize, usize, Option<String>)> {
        let turns = turns(&events(tokens)).into_iter();
        turns.map(|t| (t.number, t.events, t.worker_id)).collect()
    }

    #[test]
    fn events_of_one_token_are_one_turn() {
        let (a, b) = (Some("a".repeat(12)), Some("b".repeat(12)));
        let tokens = [(1, FIRST), (1, FIRST), (1, SECOND), (2, SECOND)];
        assert_eq!(
            summary(&tokens),
            [(1, 2, a.clone()), (2, 1, b.clone()), (1, 1, b.clone())]
        );
        let tokens = [(1, REPLACED), (1, FIRST), (1, FIRST), (1, SECOND)];
        assert_eq!(summary(&tokens), [(1, 3, a), (2, 1, b)]);
        assert_eq!(summary(&[(1, REPLACED)]), [(1, 1, None)]);
    }
}
