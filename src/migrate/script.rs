//! The installation as text: the ledger's statements, and the whole of it as one script.

use std::fmt::Write as _;

use crate::schema_name::SchemaName;

use super::names::Names;
use super::source::{Migration, RELEASE, Script, Source};

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
/// and stays; `created` is a T-SQL expression for 1 or 0.
pub(super) fn record_release(schema: &SchemaName, source: &Source, created: &str) -> String {
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
         N'{RELEASE}', {order}, N'{checksum}', {NOW_MS}, {created});\nEND;\n",
    )
}

/// The whole installation of a schema as one script with GO between its batches.
///
/// A DBA runs it with sqlcmd or any tool that knows GO; the application then starts with
/// [`MigrationPolicy::Verify`](crate::MigrationPolicy::Verify) as a member of the schema's
/// runtime role. The script installs a fresh schema and upgrades an older one, in one
/// transaction: when a batch fails, the batches after it do nothing. It refuses a schema of a
/// newer release, one whose migrations are unknown or altered, and one that is only partly
/// there; in the end it says what is installed.
#[must_use]
pub fn install_script(schema: &SchemaName) -> String {
    let source = Source::embedded();
    let mut script = Writer::new(schema);
    script.comment(&format!(
        "Installs or upgrades schema {schema} of duroxide-sql {RELEASE}."
    ));
    script.comment("Needs the right to create schemas, tables, views, procedures and roles.");
    script.file(&source.begin);
    script.file(&source.level);
    script.comment(&source.check.file);
    script.guarded(&check_text(&script.names, source));

    let literal = schema.literal();
    script.skip_if(&format!("SCHEMA_ID(N'{literal}') IS NOT NULL"));
    script.file(&source.create_schema);
    script.guarded(&remember_creation(schema));
    script.resume();
    for migration in &source.migrations {
        script.skip_if_recorded(migration);
        script.file(&migration.script);
        script.guarded(&record_migration(schema, migration));
        script.resume();
    }
    for file in &source.repeatable {
        script.file(file);
    }
    script.guarded(&record_release(schema, source, &was_created(schema)));
    script.comment(&source.report.file);
    script.end(&script.names.render(source.report.text));
    script.text
}

/// The script that removes what an installation created in a schema, with all its data.
///
/// It removes everything or, when a statement fails, nothing. The roles must have no members
/// left. The schema itself goes only if the installation created it and nothing else is in it.
#[must_use]
pub fn uninstall_script(schema: &SchemaName) -> String {
    let source = Source::embedded();
    let mut script = Writer::new(schema);
    script.comment(&format!(
        "Removes schema {schema} of duroxide-sql, with all its data."
    ));
    script.file(&source.begin);
    script.file(&source.teardown);
    script.end(&format!(
        "COMMIT TRANSACTION;\nSELECT N'everything of duroxide-sql in schema {} is removed' AS \
         removed;\n",
        schema.quoted().replace('\'', "''")
    ));
    script.text
}

/// The check with the release and the migrations of this build in it.
fn check_text(names: &Names, source: &Source) -> String {
    let known: Vec<_> = source
        .migrations
        .iter()
        .map(|migration| {
            serde_json::json!({"number": migration.number, "checksum": migration.checksum})
        })
        .collect();
    let known = serde_json::Value::from(known).to_string();
    names
        .render(source.check.text)
        .replace("N'$(release)'", &format!("N'{RELEASE}'"))
        .replace(
            "N'$(release_order)'",
            &format!("N'{}'", source.release_order),
        )
        .replace("N'$(migrations)'", &format!("N'{known}'"))
}

/// Variables do not outlive a batch, and the ledger does not exist yet when the schema is
/// created. A second application lock does: it is held until the script's transaction ends.
fn remember_creation(schema: &SchemaName) -> String {
    format!(
        "EXEC sp_getapplock @Resource = N'{}', @LockMode = N'Exclusive', @LockOwner = \
         N'Transaction', @LockTimeout = 0;\n",
        creation_mark(schema)
    )
}

/// Whether [`remember_creation`] ran in this transaction, as a T-SQL expression.
fn was_created(schema: &SchemaName) -> String {
    format!(
        "CASE APPLOCK_MODE(N'public', N'{}', N'Transaction') WHEN N'Exclusive' THEN 1 ELSE 0 END",
        creation_mark(schema)
    )
}

fn creation_mark(schema: &SchemaName) -> String {
    format!("duroxide-sql created {}", schema.literal())
}

/// Writes batches so that nothing runs outside of the transaction: an error rolls it back, and
/// from then on the server only parses what follows.
struct Writer<'a> {
    schema: &'a SchemaName,
    names: Names,
    text: String,
}

impl<'a> Writer<'a> {
    fn new(schema: &'a SchemaName) -> Self {
        Self {
            schema,
            names: Names::of(schema),
            text: String::new(),
        }
    }

    fn comment(&mut self, text: &str) {
        let _ = writeln!(self.text, "-- {text}");
    }

    /// The last batch commits; after an error it is only parsed, like everything before it.
    fn end(&mut self, text: &str) {
        self.batch(text);
        self.batch("SET NOEXEC OFF;\n");
    }

    fn batch(&mut self, text: &str) {
        let _ = write!(self.text, "{}\nGO\n", text.trim_end());
    }

    fn guarded(&mut self, text: &str) {
        self.batch(text);
        self.batch("IF @@TRANCOUNT = 0\nBEGIN\n    SET NOEXEC ON;\nEND;\n");
    }

    fn file(&mut self, script: &Script) {
        self.comment(&script.file);
        for batch in &script.batches {
            self.guarded(&self.names.render(batch.text));
        }
    }

    /// What follows, up to [`Writer::resume`], is only parsed when the condition holds.
    fn skip_if(&mut self, condition: &str) {
        self.batch(&format!(
            "IF {condition}\nBEGIN\n    SET NOEXEC ON;\nEND;\n"
        ));
    }

    /// The inner IF is compiled only when it is reached, so that it may name a table that does
    /// not exist yet.
    fn skip_if_recorded(&mut self, migration: &Migration) {
        let ledger = format!("{}.schema_migrations", self.schema.quoted());
        self.batch(&format!(
            "IF OBJECT_ID(N'{}', N'U') IS NOT NULL\nBEGIN\n    IF EXISTS (SELECT 1 FROM {ledger} \
             WHERE migration_number = {})\n    BEGIN\n        SET NOEXEC ON;\n    END;\nEND;\n",
            ledger.replace('\'', "''"),
            migration.number
        ));
    }

    fn resume(&mut self) {
        self.guarded("SET NOEXEC OFF;\n");
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::split;
    use super::*;

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
        assert!(script.is_ascii() && uninstall_script(&schema).is_ascii());
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
    fn every_batch_with_an_effect_is_guarded() {
        let script = install_script(&SchemaName::new("orders").unwrap());
        let batches = split(&script);
        for pair in batches.windows(2) {
            let changes = ["CREATE ", "GRANT ", "INSERT INTO "];
            if changes.iter().any(|word| pair[0].text.contains(word)) {
                assert!(
                    pair[1].text.starts_with("IF @@TRANCOUNT = 0"),
                    "{}",
                    pair[0].text
                );
            }
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
