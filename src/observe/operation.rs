//! One span per call of a provider's method.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use duroxide::providers::{OrchestrationItem, ProviderError, WorkItem};
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use super::tally::Tally;
use super::{metrics, millis};
use crate::error::CallError;

/// A method of the provider under way, and its span.
pub(crate) struct Operation {
    name: &'static str,
    span: Span,
}

/// Makes the [`Operation`] of a method: `operation!(provider, "read", instance_id = instance)`.
/// Every span has all of the fields; those that nobody knows stay empty.
macro_rules! operation {
    ($provider:expr, $name:literal $(, $field:ident = $value:expr)* $(,)?) => {{
        let span = ::tracing::debug_span!(
            target: "duroxide_sql::operation",
            $name,
            operation = $name,
            schema = $provider.schema_name(),
            instance_id = ::tracing::field::Empty,
            execution_id = ::tracing::field::Empty,
            activity_id = ::tracing::field::Empty,
            lock_token = ::tracing::field::Empty,
            attempt = ::tracing::field::Empty,
            rows = ::tracing::field::Empty,
            retries = ::tracing::field::Empty,
            duration_ms = ::tracing::field::Empty,
            error_number = ::tracing::field::Empty,
            error = ::tracing::field::Empty,
        );
        $(span.record(stringify!($field), $value);)*
        $crate::observe::Operation::new($name, span)
    }};
}
pub(crate) use operation;

impl Operation {
    pub(crate) fn new(name: &'static str, span: Span) -> Self {
        Self { name, span }
    }

    /// Does the work inside the span, and names the operation in its error.
    pub(crate) fn run<T>(
        &self,
        work: impl Future<Output = Result<T, CallError>>,
    ) -> impl Future<Output = Result<T, ProviderError>> {
        // Kept small: futures of many layers otherwise fill the stacks of unoptimised builds. Boxed before
        // anything waits, or the caller's own future, which is boxed as well, would have room for it once more.
        self.finish(Box::pin(work))
    }

    async fn finish<T>(
        &self,
        work: Pin<Box<impl Future<Output = Result<T, CallError>>>>,
    ) -> Result<T, ProviderError> {
        let result = if self.span.is_disabled() {
            work.await
        } else {
            let begun = Instant::now();
            let tally = Arc::<Tally>::default();
            let work = Tally::scope(Some(tally.clone()), work);
            let result = work.instrument(self.span.clone()).await;
            self.span.record("rows", tally.rows());
            self.span.record("retries", tally.retries());
            self.span.record("duration_ms", millis(begun.elapsed()));
            if let Err(error) = &result {
                self.span.record("error", tracing::field::display(error));
                if let Some(number) = error.number() {
                    self.span.record("error_number", number);
                }
            }
            result
        };
        result.map_err(|error| {
            metrics::operation_failed(self.name, &error);
            error.into_provider_error(self.name)
        })
    }

    /// Names the turn that a fetch brought.
    pub(crate) fn fetched_turn(
        &self,
        fetched: &Result<Option<(OrchestrationItem, String, u32)>, ProviderError>,
    ) {
        if let Ok(Some((item, token, attempt))) = fetched {
            self.span.record("instance_id", item.instance.as_str());
            self.span.record("execution_id", item.execution_id);
            self.fetched(token, *attempt);
        }
    }

    /// Names the work item that a fetch brought.
    pub(crate) fn fetched_work(
        &self,
        fetched: &Result<Option<(WorkItem, String, u32)>, ProviderError>,
    ) {
        if let Ok(Some((item, token, attempt))) = fetched {
            self.names(item);
            self.fetched(token, *attempt);
        }
    }

    /// Names the instance of a lease, which somebody has to look up.
    pub(crate) fn of_lease(&self, instance_id: impl FnOnce() -> Option<String>) {
        if !self.span.is_disabled()
            && let Some(instance_id) = instance_id()
        {
            self.span.record("instance_id", instance_id);
        }
    }

    fn fetched(&self, token: &str, attempt: u32) {
        self.span.record("lock_token", token);
        self.span.record("attempt", attempt);
    }

    /// Names what a work item belongs to.
    pub(crate) fn names(&self, item: &WorkItem) {
        if self.span.is_disabled() {
            return;
        }
        match item {
            WorkItem::ActivityExecute {
                instance,
                execution_id,
                id,
                ..
            }
            | WorkItem::ActivityCompleted {
                instance,
                execution_id,
                id,
                ..
            }
            | WorkItem::ActivityFailed {
                instance,
                execution_id,
                id,
                ..
            } => {
                self.span.record("instance_id", instance.as_str());
                self.span.record("execution_id", *execution_id);
                self.span.record("activity_id", *id);
            }
            other => {
                if let Some(instance) = crate::codec::routing_key(other) {
                    self.span.record("instance_id", instance.as_ref());
                }
            }
        }
    }
}
