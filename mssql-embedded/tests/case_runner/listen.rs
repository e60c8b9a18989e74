//! Overhears what the driver reports only through `tracing`: informational messages, and the errors
//! after the first.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Level, Metadata, Subscriber};

/// What was overheard since the last [`Ear::take`].
#[derive(Default)]
pub struct Heard {
    /// Numbers and texts of all errors, in order.
    pub errors: Vec<(u32, String)>,
    /// Texts of informational messages, among other chatter.
    pub infos: Vec<String>,
}

/// Listens on the current thread for as long as it lives.
pub struct Ear {
    heard: Arc<Mutex<Heard>>,
    _guard: DefaultGuard,
}

impl Ear {
    pub fn new() -> Self {
        let heard = Arc::<Mutex<Heard>>::default();
        let guard = tracing::subscriber::set_default(Listener(heard.clone()));
        Self {
            heard,
            _guard: guard,
        }
    }

    pub fn take(&self) -> Heard {
        std::mem::take(&mut *lock(&self.heard))
    }
}

fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Listener(Arc<Mutex<Heard>>);

impl Subscriber for Listener {
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
        let mut heard = lock(&self.0);
        match *event.metadata().level() {
            Level::ERROR => heard.errors.push((fields.code, fields.message)),
            Level::DEBUG => heard.infos.push(fields.message),
            _ => {}
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields {
    code: u32,
    message: String,
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "code" {
            self.code = u32::try_from(value).unwrap_or_default();
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }
}
