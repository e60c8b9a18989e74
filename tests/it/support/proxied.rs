//! A provider whose connections go through a proxy that can spoil them.

use duroxide_sql::MssqlProvider;

use super::database::TestSchema;
use super::proxy::Proxy;

pub struct Setup {
    pub provider: MssqlProvider,
    pub proxy: Proxy,
    pub schema: TestSchema,
}

pub async fn setup() -> Setup {
    setup_at(TestSchema::new()).await
}

/// The same in this schema.
pub async fn setup_at(schema: TestSchema) -> Setup {
    let proxy = Proxy::start(schema.url()).await;
    let builder = MssqlProvider::builder(proxy.url(schema.url())).schema(schema.name().as_str());
    let provider = builder.build().await.expect("the provider starts");
    Setup {
        provider,
        proxy,
        schema,
    }
}
