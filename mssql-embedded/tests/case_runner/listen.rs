//! Overhears what the driver reports only through `tracing`: informational messages, the errors after
//! the first, and the full types of columns.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::types::column_types;

/// What was overheard.
#[derive(Default)]
pub struct Heard {
    /// Numbers and texts of all errors, in order.
    pub errors: Vec<(u32, String)>,
    /// Texts of informational messages, among other chatter.
    pub infos: Vec<String>,
    /// The types of the columns, result set by result set.
    pub columns: Vec<Vec<String>>,
}

/// Listens to the futures that it is attached to with `with_subscriber`, so that connections that work
/// at the same time are told apart.
#[derive(Clone, Default)]
pub struct Ear(Arc<Mutex<Heard>>);

impl Ear {
    /// What was heard since the last time.
    pub fn take(&self) -> Heard {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for Ear {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tiberius")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut heard = self.lock();
        match *event.metadata().level() {
            Level::ERROR => heard.errors.push((fields.code, fields.message)),
            Level::DEBUG => heard.infos.push(fields.message),
            _ => heard.columns.extend(fields.columns),
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields {
    code: u32,
    message: String,
    columns: Option<Vec<String>>,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "code" {
            self.code = u32::try_from(value).unwrap_or_default();
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "meta" => self.columns = Some(column_types(&format!("{value:?}"))),
            _ => {}
        }
    }
}
