//! The SQL files inside this crate: their order and their checksums.

use std::sync::OnceLock;

use include_dir::{Dir, include_dir};

use super::batch::{Batch, split};
use crate::codec::packed_version;

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/migrations");

/// The release that this build installs.
pub(super) const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// One SQL file.
#[derive(Debug, Clone)]
pub(super) struct Script {
    /// Path below `migrations/`.
    pub(super) file: String,
    pub(super) text: &'static str,
    /// The text cut at its GO lines. Names come into each batch later and can add none.
    pub(super) batches: Vec<Batch<'static>>,
}

/// A numbered change of the tables, frozen once released.
#[derive(Debug, Clone)]
pub(super) struct Migration {
    pub(super) number: u32,
    /// File name without folder.
    pub(super) name: String,
    pub(super) checksum: String,
    pub(super) script: Script,
}

/// Everything that an installation consists of.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) create_schema: Script,
    pub(super) migrations: Vec<Migration>,
    /// The procedures, the views and the permissions: applied again whenever they changed.
    pub(super) repeatable: Vec<Script>,
    pub(super) repeatable_checksum: String,
    pub(super) teardown: Script,
    /// What only the printed scripts need: how they begin, what they refuse, what they report.
    pub(super) begin: Script,
    pub(super) level: Script,
    pub(super) check: Script,
    pub(super) report: Script,
    pub(super) release_order: i64,
}

impl Source {
    /// The files of this build.
    pub(super) fn embedded() -> &'static Self {
        static SOURCE: OnceLock<Source> = OnceLock::new();
        SOURCE.get_or_init(Self::read)
    }

    fn read() -> Self {
        let mut migrations: Vec<_> = FILES.files().filter_map(migration).collect();
        migrations.sort_by_key(|migration| migration.number);
        // By name, so that a view whose name begins with an underscore is there before the views
        // that are built on it.
        let mut repeatable = [sorted("procedures"), sorted("views")].concat();
        repeatable.push(script("permissions.sql"));
        let all = repeatable
            .iter()
            .flat_map(|script| [script.file.as_str(), script.text]);
        let repeatable_checksum = checksum(all);
        Self {
            create_schema: script("create_schema.sql"),
            migrations,
            repeatable,
            repeatable_checksum,
            teardown: script("teardown/drop_schema.sql"),
            begin: script("install/begin.sql"),
            level: script("install/level.sql"),
            check: script("install/check.sql"),
            report: script("install/report.sql"),
            release_order: release_order(RELEASE),
        }
    }

    /// The number of the newest migration.
    pub(super) fn newest(&self) -> u32 {
        self.migrations
            .last()
            .map_or(0, |migration| migration.number)
    }
}

/// The SQL files of a folder in the order of their names.
fn sorted(folder: &str) -> Vec<Script> {
    let mut scripts: Vec<_> = FILES
        .get_dir(folder)
        .into_iter()
        .flat_map(Dir::files)
        .filter(|file| file.path().extension().is_some_and(|ext| ext == "sql"))
        .map(|file| script(&file.path().to_string_lossy()))
        .collect();
    scripts.sort_by(|a, b| a.file.cmp(&b.file));
    scripts
}

/// A file that the crate was built with; the tests below see to it that none is missing.
fn script(path: &str) -> Script {
    let text = FILES
        .get_file(path)
        .and_then(|file| file.contents_utf8())
        .unwrap_or_default();
    Script {
        file: path.to_owned(),
        text,
        batches: split(text),
    }
}

/// `NNNN_name.sql`.
fn migration(file: &include_dir::File<'static>) -> Option<Migration> {
    let name = file.path().file_name()?.to_str()?;
    let (number, _) = name.strip_suffix(".sql")?.split_once('_')?;
    if number.len() != 4 {
        return None;
    }
    let script = script(&file.path().to_string_lossy());
    Some(Migration {
        number: number.parse().ok()?,
        name: name.to_owned(),
        checksum: checksum([script.text]),
        script,
    })
}

/// The release as one number that sorts like the release.
pub(super) fn release_order(release: &str) -> i64 {
    let core = release.split(['-', '+']).next().unwrap_or_default();
    let mut parts = core.split('.').map(|part| part.parse().unwrap_or(0));
    let mut part = || parts.next().unwrap_or(0);
    packed_version(part(), part(), part())
}

/// FNV-1a, 128 bits wide, as 32 hexadecimal digits. It is to notice changes, not attackers, who
/// could change the ledger as well. Line ends do not count.
pub(super) fn checksum<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    const OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut hash = OFFSET;
    for text in texts {
        let bytes = text.bytes().filter(|byte| *byte != b'\r');
        // The separator keeps ["ab", "c"] and ["a", "bc"] apart.
        for byte in bytes.chain([0]) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        }
    }
    format!("{hash:032x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_an_installation_is_there() {
        let source = Source::embedded();
        assert!(!source.migrations.is_empty());
        assert!(source.repeatable.len() > 30, "{}", source.repeatable.len());
        let scripts = source
            .repeatable
            .iter()
            .chain([&source.create_schema, &source.teardown])
            .chain([&source.begin, &source.check, &source.report]);
        for script in scripts {
            assert!(
                !script.text.trim().is_empty(),
                "{} is missing or empty",
                script.file
            );
        }
    }

    #[test]
    fn migrations_are_numbered_without_gaps() {
        let numbers: Vec<_> = Source::embedded()
            .migrations
            .iter()
            .map(|m| m.number)
            .collect();
        assert_eq!(numbers, (1..).take(numbers.len()).collect::<Vec<u32>>());
    }

    #[test]
    fn checksums_ignore_line_ends_and_notice_everything_else() {
        assert_eq!(checksum(["a\r\nb"]), checksum(["a\nb"]));
        assert_ne!(checksum(["a\nb"]), checksum(["a\n b"]));
        assert_ne!(checksum(["ab", "c"]), checksum(["a", "bc"]));
    }

    #[test]
    fn releases_sort_by_number() {
        assert!(release_order("0.2.0") > release_order("0.1.99"));
        assert_eq!(release_order("1.2.3-beta.1"), release_order("1.2.3"));
    }
}
