//! Spans, events and metrics: what `docs/observability.md` promises is what is sent.

mod document;
mod events;
mod health;
mod metrics;
mod payloads;
mod spans;

use duroxide_sql::{MssqlProvider, MssqlProviderBuilder};

use crate::support::database::TestSchema;
use crate::support::proxy::Proxy;

/// A provider behind a proxy that can fail its calls. The schema goes last.
struct Setup {
    provider: MssqlProvider,
    proxy: Proxy,
    schema: TestSchema,
}

impl Setup {
    async fn new(settings: impl FnOnce(MssqlProviderBuilder) -> MssqlProviderBuilder) -> Self {
        let schema = TestSchema::new();
        let proxy = Proxy::start(schema.url()).await;
        let builder = MssqlProvider::builder(proxy.url(schema.url()));
        let builder = settings(builder.schema(schema.name().as_str()));
        let provider = builder.build().await.expect("the provider starts");
        Self {
            provider,
            proxy,
            schema,
        }
    }

    async fn plain() -> Self {
        Self::new(|builder| builder).await
    }
}
