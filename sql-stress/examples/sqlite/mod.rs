//! duroxide's SQLite provider as a place for loads.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use duroxide::providers::Provider;
use duroxide::providers::sqlite::SqliteProvider;
use parking_lot::Mutex;
use sql_stress::backend::Backend;

/// duroxide's provider on a file of its own.
#[derive(Default)]
pub struct Sqlite(Mutex<Option<PathBuf>>);

#[async_trait::async_trait]
impl Backend for Sqlite {
    fn describe(&self) -> String {
        "SQLite".to_owned()
    }

    async fn open(&self) -> Result<Arc<dyn Provider>> {
        let name = format!("sql-stress-{}", uuid::Uuid::new_v4().simple());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).context("no folder for SQLite's file")?;
        let url = format!("sqlite:{}?mode=rwc", folder.join("store.db").display());
        *self.0.lock() = Some(folder);
        Ok(Arc::new(SqliteProvider::new(&url, None).await?))
    }

    async fn close(&self) -> Result<()> {
        if let Some(folder) = self.0.lock().take() {
            std::fs::remove_dir_all(folder)?;
        }
        Ok(())
    }
}
