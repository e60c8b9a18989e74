//! A question to one of the views, put together without any text of a stranger's but literals.

use std::fmt::Write as _;

/// A view of the schema; its file in `migrations/views/` explains the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum View {
    /// One row per instance.
    Instances,
    /// One row per execution.
    Executions,
    /// One row per recorded event, without payloads.
    History,
    /// One row per thing that an unfinished instance waits for.
    Waiting,
    /// One row per message and activity.
    Queue,
    /// One row per queue and tag.
    QueueDepth,
    /// One row per process that holds something.
    Workers,
    /// Output, error and custom status of instances.
    InstancePayloads,
    /// Recorded events as duroxide wrote them.
    HistoryPayloads,
    /// Key-values of instances.
    KeyValues,
}

impl View {
    /// The view's name in the schema.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Instances => "v_instances",
            Self::Executions => "v_executions",
            Self::History => "v_history",
            Self::Waiting => "v_waiting",
            Self::Queue => "v_queue",
            Self::QueueDepth => "v_queue_depth",
            Self::Workers => "v_workers",
            Self::InstancePayloads => "v_instance_payloads",
            Self::HistoryPayloads => "v_history_payloads",
            Self::KeyValues => "v_key_values",
        }
    }
}

/// Which rows of a view, in which order, how many of them.
#[derive(Debug, Clone)]
#[must_use = "a question does nothing until it is asked"]
pub struct Question {
    view: View,
    conditions: Vec<String>,
    order: Vec<String>,
    page: Option<(u64, u64)>,
    counted_by: Option<&'static str>,
}

impl Question {
    /// All rows of a view.
    pub fn of(view: View) -> Self {
        Self {
            view,
            conditions: Vec::new(),
            order: Vec::new(),
            page: None,
            counted_by: None,
        }
    }

    pub(super) fn view(&self) -> View {
        self.view
    }

    /// Rows whose column is this text.
    pub fn equals(mut self, column: &'static str, text: &str) -> Self {
        self.conditions
            .push(format!("[{column}] = N'{}'", escaped(text)));
        self
    }

    /// Rows whose column is one of these texts.
    pub fn one_of(mut self, column: &'static str, texts: &[&str]) -> Self {
        let list: Vec<_> = texts
            .iter()
            .map(|text| format!("N'{}'", escaped(text)))
            .collect();
        self.conditions
            .push(format!("[{column}] IN ({})", list.join(", ")));
        self
    }

    /// Rows whose column begins with this text.
    pub fn begins_with(mut self, column: &'static str, text: &str) -> Self {
        let units = text.encode_utf16().count();
        self.conditions
            .push(format!("LEFT([{column}], {units}) = N'{}'", escaped(text)));
        self
    }

    /// Rows in which one of the columns contains this text.
    pub fn contains(mut self, columns: &[&'static str], text: &str) -> Self {
        let any: Vec<_> = columns
            .iter()
            .map(|column| format!("CHARINDEX(N'{}', [{column}]) > 0", escaped(text)))
            .collect();
        self.conditions.push(format!("({})", any.join(" OR ")));
        self
    }

    /// Rows whose column is this number.
    pub fn equals_number(mut self, column: &'static str, number: i64) -> Self {
        self.conditions.push(format!("[{column}] = {number}"));
        self
    }

    /// Rows whose column has no value.
    pub fn is_null(mut self, column: &'static str) -> Self {
        self.conditions.push(format!("[{column}] IS NULL"));
        self
    }

    /// Rows whose number is at least this.
    pub fn at_least(mut self, column: &'static str, number: i64) -> Self {
        self.conditions.push(format!("[{column}] >= {number}"));
        self
    }

    /// Rows whose time is that long ago, or longer.
    pub fn older_than(mut self, column: &'static str, age: std::time::Duration) -> Self {
        let seconds = i32::try_from(age.as_secs()).unwrap_or(i32::MAX);
        self.conditions.push(format!(
            "[{column}] < DATEADD(SECOND, -{seconds}, SYSUTCDATETIME())"
        ));
        self
    }

    /// In the order of a column; several orders apply one after the other.
    pub fn ordered_by(mut self, column: &'static str) -> Self {
        self.order.push(format!("[{column}]"));
        self
    }

    /// In the opposite order of a column.
    pub fn ordered_down_by(mut self, column: &'static str) -> Self {
        self.order.push(format!("[{column}] DESC"));
        self
    }

    /// At most `limit` rows after the first `skip`. Needs an order.
    pub fn page(mut self, skip: u64, limit: u64) -> Self {
        self.page = Some((skip, limit));
        self
    }

    /// Instead of rows, one row per value of a column with the number of rows in `count`.
    pub fn counted_by(mut self, column: &'static str) -> Self {
        self.counted_by = Some(column);
        self
    }

    /// The question as a batch. An observer that meets a procedure in a deadlock gives way.
    pub(super) fn text(&self, schema: &str) -> String {
        let mut text = String::from("SET NOCOUNT ON; SET DEADLOCK_PRIORITY LOW;\nSELECT ");
        match self.counted_by {
            Some(column) => {
                let _ = write!(text, "[{column}], COUNT_BIG(*) AS [count]");
            }
            None => text.push('*'),
        }
        let _ = write!(text, "\nFROM {schema}.[{}]", self.view.name());
        for (nth, condition) in self.conditions.iter().enumerate() {
            text.push_str(if nth == 0 { "\nWHERE " } else { " AND " });
            text.push_str(condition);
        }
        if let Some(column) = self.counted_by {
            let _ = write!(text, "\nGROUP BY [{column}]");
        }
        if !self.order.is_empty() {
            let _ = write!(text, "\nORDER BY {}", self.order.join(", "));
        }
        if let Some((skip, limit)) = self.page {
            let _ = write!(text, "\nOFFSET {skip} ROWS FETCH NEXT {limit} ROWS ONLY");
        }
        text.push_str(";\n");
        text
    }
}

fn escaped(text: &str) -> String {
    text.replace('\'', "''")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_write_stays_a_literal() {
        let question = Question::of(View::Instances)
            .equals("instance_id", "it's'; DROP TABLE x; --")
            .ordered_down_by("created_at_utc")
            .page(20, 10);
        let text = question.text("[orders]");
        assert!(
            text.contains("[instance_id] = N'it''s''; DROP TABLE x; --'"),
            "{text}"
        );
        assert!(
            text.contains("OFFSET 20 ROWS FETCH NEXT 10 ROWS ONLY"),
            "{text}"
        );
        assert!(text.contains("FROM [orders].[v_instances]"), "{text}");
    }

    #[test]
    fn a_search_is_one_condition_of_several() {
        let question = Question::of(View::Instances)
            .contains(&["instance_id", "orchestration_name"], "o'r")
            .equals_number("current_execution_id", 2);
        let text = question.text("[orders]");
        let wanted = "WHERE (CHARINDEX(N'o''r', [instance_id]) > 0 OR \
                      CHARINDEX(N'o''r', [orchestration_name]) > 0) AND [current_execution_id] = 2;";
        assert!(text.contains(wanted), "{text}");
    }
}
