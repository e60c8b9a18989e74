//! One instance as a story: what it did, what it waits for, its children.

mod bars;
mod turns;

use duroxide_sql::{Operator, Question, View, ViewRow};

use crate::instant;
use crate::output::{cell, number};

pub use bars::{Bar, Ending, Kind, bars};
pub use turns::{Turn, turns};

/// Deeper trees are cut; ids show where to go on.
const DEPTH_MAX: usize = 8;
/// Wider trees are cut as well: a person reads this.
const CHILDREN_MAX: usize = 1000;
/// Longer histories are cut: a person reads this.
pub const EVENTS_MAX: u64 = 10_000;

/// Which executions to read the events of.
#[derive(Debug, Clone, Copy)]
pub enum Executions {
    /// The one that runs, or ran last.
    Current,
    /// This one.
    Number(i64),
    /// All of them.
    All,
}

/// A child of an instance, or a child's child.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Child {
    /// 0 for a child, 1 for a child's child, and so on.
    pub depth: usize,
    /// Its row of `v_instances`.
    #[serde(flatten)]
    pub row: ViewRow,
}

/// What the views say about one instance.
#[derive(Debug)]
pub struct Story {
    /// Its row of `v_instances`; none for an instance that has only messages.
    pub instance: Option<ViewRow>,
    /// Its executions, first to last.
    pub executions: Vec<ViewRow>,
    /// What it waits for.
    pub waiting: Vec<ViewRow>,
    /// Recorded events in their order.
    pub events: Vec<ViewRow>,
    /// Whether there are more events than [`EVENTS_MAX`].
    pub is_cut: bool,
    /// Its descendants, each below its parent.
    pub children: Vec<Child>,
    /// Its row of `v_instance_payloads`, or why this login may not see it.
    pub payloads: Result<Option<ViewRow>, String>,
}

impl Story {
    /// Asks the views; nothing when they know nothing of this id.
    pub async fn read(
        operator: &Operator,
        id: &str,
        wanted: Executions,
    ) -> anyhow::Result<Option<Self>> {
        let about = |view| Question::of(view).equals("instance_id", id);
        let instance = operator.rows(&about(View::Instances)).await?;
        let instance = instance.into_iter().next();
        let waiting = about(View::Waiting).ordered_by("since_utc");
        let waiting = operator.rows(&waiting).await?;
        let executions = about(View::Executions).ordered_by("execution_id");
        let executions = operator.rows(&executions).await?;
        let current = instance
            .as_ref()
            .map_or(1, |row| number(row, "current_execution_id"));
        let events = match wanted {
            Executions::Current => about(View::History).equals_number("execution_id", current),
            Executions::Number(nth) => about(View::History).equals_number("execution_id", nth),
            Executions::All => about(View::History).ordered_by("execution_id"),
        };
        let events = events.ordered_by("event_id").page(0, EVENTS_MAX + 1);
        let mut events = operator.rows(&events).await?;
        let is_cut = events.len() as u64 > EVENTS_MAX;
        events.truncate(usize::try_from(EVENTS_MAX).unwrap_or(usize::MAX));
        if instance.is_none() && waiting.is_empty() && events.is_empty() {
            return Ok(None);
        }
        // Output, error and custom status are payloads, which not everybody may see.
        let payloads = match operator.rows(&about(View::InstancePayloads)).await {
            Ok(rows) => Ok(rows.into_iter().next()),
            Err(error) => Err(error.to_string()),
        };
        Ok(Some(Self {
            children: descendants(operator, id).await?,
            instance,
            executions,
            waiting,
            events,
            is_cut,
            payloads,
        }))
    }

    /// The server's clock when it was asked, as far as a running instance tells it; for one that
    /// has ended, its end.
    pub fn now_ms(&self) -> Option<i64> {
        let instance = self.instance.as_ref()?;
        let created = instant::parse(&cell(instance, "created_at_utc"))?;
        Some(created + number(instance, "duration_ms"))
    }

    /// What the recorded events began and ended.
    pub fn bars(&self) -> Vec<Bar> {
        let mut bars = bars(&self.events, &self.waiting);
        for bar in &mut bars {
            if let Some(id) = &mut bar.child_instance_id {
                self.complete(id);
            }
        }
        bars
    }

    /// A child without an id of its own is recorded by the end of its id; the whole begins with its
    /// parent's.
    fn complete(&self, id: &mut String) {
        let end = format!("::{id}");
        let own = self.children.iter().filter(|child| child.depth == 0);
        let own: Vec<_> = own.map(|child| cell(&child.row, "instance_id")).collect();
        if own.contains(id) {
            return;
        }
        if let Some(whole) = own.into_iter().find(|whole| whole.ends_with(&end)) {
            *id = whole;
        }
    }

    /// The turns that recorded the events.
    pub fn turns(&self) -> Vec<Turn> {
        turns(&self.events)
    }
}

/// Children below their parents, those of one parent in the order of their beginnings.
async fn descendants(operator: &Operator, root: &str) -> anyhow::Result<Vec<Child>> {
    let mut found: Vec<Child> = Vec::new();
    // The parents whose children have not been asked for, and where their rows go.
    let mut level = vec![(0, root.to_owned())];
    for depth in 0..DEPTH_MAX {
        let ids: Vec<&str> = level.iter().map(|(_, id)| id.as_str()).collect();
        if ids.is_empty() || found.len() >= CHILDREN_MAX {
            break;
        }
        let question = Question::of(View::Instances)
            .one_of("parent_instance_id", &ids)
            .ordered_by("created_at_utc")
            .ordered_by("instance_id")
            .page(0, CHILDREN_MAX as u64);
        let rows = operator.rows(&question).await?;
        level = place(&mut found, depth, rows);
    }
    Ok(found)
}

/// Puts children behind their parents, which are in `found` unless they are the root; returns the
/// new ones.
fn place(found: &mut Vec<Child>, depth: usize, rows: Vec<ViewRow>) -> Vec<(usize, String)> {
    let mut placed = Vec::new();
    for row in rows {
        let parent = cell(&row, "parent_instance_id");
        placed.push((depth, cell(&row, "instance_id")));
        let above = found
            .iter()
            .position(|child| depth > 0 && cell(&child.row, "instance_id") == parent);
        let from = above.map_or(0, |at| at + 1);
        // Behind the parent's earlier children and all that is below them.
        let until = found[from..].iter().position(|child| child.depth < depth);
        let at = until.map_or(found.len(), |behind| from + behind);
        found.insert(at, Child { depth, row });
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, parent: &str) -> ViewRow {
        let value = serde_json::json!({ "instance_id": id, "parent_instance_id": parent });
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn children_without_an_id_of_their_own_are_found() {
        let mut scheduled = row("a", "");
        scheduled.insert("event_kind".into(), "SubOrchestrationScheduled".into());
        scheduled.insert("child_instance_id".into(), "sub::2".into());
        let mut named = scheduled.clone();
        named.insert("child_instance_id".into(), "named".into());
        let child = |id| Child {
            depth: 0,
            row: row(id, "a"),
        };
        let story = Story {
            instance: None,
            executions: Vec::new(),
            waiting: Vec::new(),
            events: vec![scheduled, named],
            is_cut: false,
            children: vec![child("a::sub::2"), child("other::named"), child("named")],
            payloads: Ok(None),
        };
        let ids: Vec<_> = story
            .bars()
            .into_iter()
            .filter_map(|bar| bar.child_instance_id)
            .collect();
        assert_eq!(ids, ["a::sub::2", "named"]);
    }

    #[test]
    fn children_stand_below_their_parents() {
        let mut found = Vec::new();
        place(&mut found, 0, vec![row("a", "root"), row("b", "root")]);
        place(
            &mut found,
            1,
            vec![row("a1", "a"), row("b1", "b"), row("a2", "a")],
        );
        place(&mut found, 2, vec![row("a1x", "a1")]);
        let lines: Vec<_> = found
            .iter()
            .map(|child| (child.depth, cell(&child.row, "instance_id")))
            .collect();
        let lines: Vec<_> = lines.iter().map(|(d, id)| (*d, id.as_str())).collect();
        let wanted = [
            (0, "a"),
            (1, "a1"),
            (2, "a1x"),
            (1, "a2"),
            (0, "b"),
            (1, "b1"),
        ];
        assert_eq!(lines, wanted);
    }
}
