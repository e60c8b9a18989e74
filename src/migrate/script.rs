//! The installation as text: the ledger's statements, and the whole of it as one script.

use std::fmt::Write as _;
use std::time::Duration;

use crate::schema_name::SchemaName;

use super::session::begin_text;
use super::source::{Migration, RELEASE, Source, render};

/// The server's clock in milliseconds since 1970, as a T-SQL expression.
const NOW_MS: &str = "DATEDIFF_BIG(MILLISECOND, '19700101', SYSUTCDATETIME())";

/// Enters a migration into the ledger.
pub(super) fn record_migration(schema: &SchemaName, migration: &Migration) -> String {
    format!(
        "INSERT INTO {}.schema_migrations\n    (migration_number, migration_name, checksum, \
         applied_at_ms, release)\nVALUES\n    ({}, N'{}', N'{}', {NOW_MS}, N'{RELEASE}');\n",
        schema.quoted(),
        migration.number,
        migration.name,
        migration.checksum,
    )
}

/// Enters the release of the procedures into the ledger. Who created the schema is written once
/// and stays.
pub(super) fn record_release(schema: &SchemaName, source: &Source, created: bool) -> String {
    let (table, checksum, order) = (
        format!("{}.schema_release", schema.quoted()),
        &source.repeatable_checksum,
        source.release_order,
    );
    format!(
        "UPDATE {table}\nSET    release = N'{RELEASE}', release_order = {order}, checksum = \
         N'{checksum}', applied_at_ms = {NOW_MS}\nWHERE  release_id = 1;\n\
         IF @@ROWCOUNT = 0\nBEGIN\n    INSERT INTO {table}\n        (release_id, release, \
         release_order, checksum, applied_at_ms, created_schema)\n    VALUES\n        (1, \
         N'{RELEASE}', {order}, N'{checksum}', {NOW_MS}, {});\nEND;\n",
        u8::from(created),
    )
}

/// The whole installation of a schema as one script with GO between its batches.
///
/// A DBA runs it with sqlcmd or any tool that knows GO; the application then starts with
/// [`MigrationPolicy::Verify`](crate::MigrationPolicy::Verify) as a member of the schema's
/// runtime role. The script installs a fresh schema and upgrades an older one, in one
/// transaction: when a batch fails, the batches after it do nothing.
#[must_use]
pub fn install_script(schema: &SchemaName) -> String {
    let source = Source::embedded();
    let mut script = Writer {
        schema,
        text: String::new(),
    };
    let _ = write!(
        script.text,
        "-- Installs or upgrades schema {schema} of duroxide-sql {RELEASE}.\n\
         -- Run it in the right database, with the right to create schemas, tables, procedures \
         and roles.\n"
    );
    script.batch(&begin_text(schema, Duration::from_secs(60)));
    script.stop_if_failed();

    let exists = format!("SCHEMA_ID(N'{}') IS NOT NULL", schema.literal());
    script.skip_if(&format!("IF {exists} SET NOEXEC ON;\n"));
    script.file(source.create_schema.text);
    script.resume();

    for migration in &source.migrations {
        let ledger = format!("{}.schema_migrations", schema.quoted());
        let literal = ledger.replace('\'', "''");
        script.skip_if(&format!(
            "IF OBJECT_ID(N'{literal}', N'U') IS NOT NULL\nBEGIN\n    IF EXISTS (SELECT 1 FROM \
             {ledger} WHERE migration_number = {}) SET NOEXEC ON;\nEND;\n",
            migration.number
        ));
        let _ = writeln!(script.text, "-- {}", migration.script.file);
        script.file(migration.script.text);
        script.stop_if_failed();
        script.batch(&record_migration(schema, migration));
        script.resume();
    }
    for file in &source.repeatable {
        let _ = writeln!(script.text, "-- {}", file.file);
        script.file(file.text);
        script.stop_if_failed();
    }
    // Whoever ran the script owns the schema; removing it is for them to decide.
    script.batch(&record_release(schema, source, false));
    script.batch("IF @@TRANCOUNT > 0 COMMIT TRANSACTION;\n");
    script.batch("SET NOEXEC OFF;\n");
    script.text
}

struct Writer<'a> {
    schema: &'a SchemaName,
    text: String,
}

impl Writer<'_> {
    fn batch(&mut self, text: &str) {
        self.text.push_str(text);
        if !text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str("GO\n");
    }

    /// A file of ours, which may have GO lines of its own.
    fn file(&mut self, text: &str) {
        let rendered = render(text, self.schema);
        let rendered = rendered.trim_end();
        match rendered.strip_suffix("GO") {
            Some(without) if without.ends_with('\n') => self.batch(without),
            _ => self.batch(rendered),
        }
    }

    /// An error has rolled the transaction back; nothing may run outside of it.
    fn stop_if_failed(&mut self) {
        self.batch("IF @@TRANCOUNT = 0 SET NOEXEC ON;\n");
    }

    fn skip_if(&mut self, condition: &str) {
        self.batch(condition);
    }

    fn resume(&mut self) {
        self.batch("SET NOEXEC OFF;\n");
        self.stop_if_failed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::batch::split;

    #[test]
    fn script_holds_every_file_once_and_no_placeholder() {
        let schema = SchemaName::new("it's [odd]").unwrap();
        let script = install_script(&schema);
        let source = Source::embedded();
        for file in &source.repeatable {
            assert_eq!(
                script.matches(&format!("-- {}\n", file.file)).count(),
                1,
                "{}",
                file.file
            );
        }
        for batch in split(&script) {
            let code = batch
                .text
                .lines()
                .map(|line| line.split("--").next().unwrap_or_default());
            assert!(
                code.into_iter().all(|line| !line.contains("$(")),
                "{}",
                batch.text
            );
        }
    }

    #[test]
    fn procedures_stand_alone_in_their_batches() {
        let script = install_script(&SchemaName::new("orders").unwrap());
        for batch in split(&script) {
            let creates = batch
                .text
                .lines()
                .filter(|line| line.starts_with("CREATE OR ALTER PROCEDURE"))
                .count();
            assert!(creates <= 1, "{}", batch.text);
        }
    }
}
