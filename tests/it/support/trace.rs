//! What is told through `tracing`, caught with its fields for a test to compare.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, Interest};
use tracing::{Event, Level, Metadata, Subscriber};

/// A span or an event of ours.
#[derive(Debug, Clone)]
pub struct Told {
    pub is_span: bool,
    pub level: Level,
    pub target: &'static str,
    /// The name of a span, the message of an event.
    pub text: String,
    pub fields: BTreeMap<String, String>,
}

impl Told {
    pub fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }
}

/// Everything of ours that was told on this thread.
#[derive(Clone, Default)]
pub struct Trace(Arc<Mutex<Vec<Told>>>);

impl Trace {
    /// Catches until the guard is dropped.
    pub fn catch() -> (Self, DefaultGuard) {
        let trace = Self::default();
        let guard = tracing::subscriber::set_default(trace.clone());
        (trace, guard)
    }

    fn all(&self) -> Vec<Told> {
        self.0.lock().unwrap().clone()
    }

    /// The events with this message.
    pub fn events(&self, message: &str) -> Vec<Told> {
        let mut all = self.all();
        all.retain(|told| !told.is_span && told.text == message);
        all
    }

    /// The spans of this name.
    pub fn spans(&self, name: &str) -> Vec<Told> {
        let mut all = self.all();
        all.retain(|told| told.is_span && told.text == name);
        all
    }

    fn tell(&self, metadata: &'static Metadata<'static>, mut fields: Fields) -> u64 {
        let is_span = metadata.is_span();
        let text = match is_span {
            true => metadata.name().to_owned(),
            false => fields.0.remove("message").unwrap_or_default(),
        };
        let mut all = self.0.lock().unwrap();
        all.push(Told {
            is_span,
            level: *metadata.level(),
            target: metadata.target(),
            text,
            fields: fields.0,
        });
        all.len() as u64
    }
}

#[derive(Default)]
struct Fields(BTreeMap<String, String>);

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let mut text = String::new();
        write!(text, "{value:?}").unwrap();
        self.0.insert(field.name().to_owned(), text);
    }
}

impl Subscriber for Trace {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("duroxide_sql")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        Id::from_u64(self.tell(span.metadata(), fields))
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        let mut all = self.0.lock().unwrap();
        let told = &mut all[span.into_u64() as usize - 1];
        told.fields.append(&mut fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.tell(event.metadata(), fields);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
