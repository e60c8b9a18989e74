//! The server's error numbers: which of them pass by themselves, and which of them say that the
//! database has moved. `docs/errors.md` gives the meaning and the source of each.

/// Numbers that pass by themselves: the whole of the table in `docs/errors.md`.
///
/// Conflicts come first, then pressure and moved data, then a database that moves, starts or is
/// not available now, then the network numbers that the server reports itself.
const PASSING: &[u32] = &[
    1203, 1204, 1205, 1215, 1221, 1222, 1232, 2021, 2816, 3635, 3935, 3941, 3947, 3948, 3950, 3953,
    3960, 3966, 3980, 4117, 4184, 22335, 41301, 41302, 41305, 41325, 41339,
    41839, // conflicts
    601, 617, 669, 1532, 1533, 1534, 1535, 8628, 8645, 8651, 9020, 9515, 10922, 14355, 17065,
    17066, 17067, 17197, 17889, 20041, 22225, 22226, 22427, 22491, 22498, 40544, 40549, 40550,
    40551, 40552, 40553, // pressure, moved data
    615, 904, 913, 921, 922, 926, 927, 941, 942, 952, 954, 955, 956, 976, 978, 979, 982, 983, 988,
    997, 1807, 3906, 4060, 4064, 4221, 10928, 10929, 10930, 10936, 17142, 17187, 17188, 17189,
    18401, 18451, 22353, 22355, 22358, 22430, 22493, 40106, 40143, 40189, 40197, 40501, 40540,
    40613, 40623, 40642, 40648, 40671, 40675, 40903, 42108, 42109, 49802, 49918, 49919,
    49920, // not available now
    20, 64, 121, 203, 233, 10053, 10054, 10060, 11001, // network
];

/// Numbers that do not pass whatever severity they come with: Azure has severities of its own. The rows marked "permanent" in
/// `docs/errors.md`.
const PERMANENT: &[u32] = &[
    102, 201, 207, 208, 229, 230, 308, 315, 515, 547, 2601, 2627, 2628, 2812, 8115, 8144, 8145,
    8146, 8152, 8622, 18456, 40615,
];

/// Permanent numbers that speak of the schema and the rights in it, and not of what the call brought: an object is missing, is
/// another than this release knows, or is forbidden.
const OF_THE_SCHEMA: &[u32] = &[
    201, 207, 208, 229, 230, 308, 315, 2812, 8144, 8145, 8146, 8622,
];

/// Numbers that a connection gets whose server is no longer the one to talk to: the database has
/// become read-only there, or is changing its role. The rows marked "moved" in `docs/errors.md`.
const MOVED: &[u32] = &[
    941, 942, 952, 954, 955, 956, 976, 978, 979, 982, 983, 988, 3906,
];

/// Severities from here on mean that the server, not the request, is in trouble.
const SEVERITY_RESOURCES: u8 = 17;
/// Severities from here on end the connection.
pub(crate) const SEVERITY_FATAL: u8 = 20;
/// The numbers that our procedures raise, as `docs/errors.md` lists them. All are permanent.
const OURS: std::ops::RangeInclusive<u32> = 51_000..=51_099;
/// Ours: the lock token of a turn or of an activity is not, or no longer, good.
const LEASE_LOST: [u32; 2] = [51_003, 51_004];
/// Ours: a procedure was called inside a transaction.
pub(crate) const CALLED_IN_TRANSACTION: u32 = 51_000;
/// The login was refused.
pub(crate) const LOGIN_FAILED: u32 = 18456;
/// The database does not exist, is not accessible, or is moving.
pub(crate) const DATABASE_UNAVAILABLE: u32 = 4060;
/// The same of the login's default database, where the connection names none.
pub(crate) const DEFAULT_DATABASE_UNAVAILABLE: u32 = 4064;

/// Whether a failure may pass by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// The same call may succeed later without anyone changing anything.
    Retryable,
    /// The same call will fail again.
    Permanent,
}

/// Decides from a server error's number, and from its severity where the number is unknown,
/// whether trying again can help.
///
/// For acks, abandons and renewals the doubt counts the other way, see [`classify_settling`].
#[must_use]
pub fn classify(number: u32, severity: u8) -> ErrorClass {
    let is_known = PERMANENT.contains(&number) || OURS.contains(&number);
    if PASSING.contains(&number) || (!is_known && severity >= SEVERITY_RESOURCES) {
        ErrorClass::Retryable
    } else {
        ErrorClass::Permanent
    }
}

/// Decides the same for the calls that settle or extend a lease: acks, abandons and renewals.
///
/// The runtime ends a workflow for good when an ack fails permanently. What a database says while
/// it is moved, restored or maintained is more than any list knows, so only what our own
/// procedures raise is permanent here.
#[must_use]
pub fn classify_settling(number: u32) -> ErrorClass {
    if OURS.contains(&number) {
        ErrorClass::Permanent
    } else {
        ErrorClass::Retryable
    }
}

/// True for the numbers that our own procedures raise.
pub(crate) fn is_ours(number: u32) -> bool {
    OURS.contains(&number)
}

/// True when the database says that the caller no longer holds what it works on.
pub(crate) fn says_lease_lost(number: u32) -> bool {
    LEASE_LOST.contains(&number)
}

/// True when the connection that got this error talks to a server that no longer serves the
/// database.
pub(crate) fn says_moved(number: u32) -> bool {
    MOVED.contains(&number)
}

/// True for errors that whoever put the schema right again would end for every call.
pub(crate) fn says_schema_is_broken(number: u32) -> bool {
    OF_THE_SCHEMA.contains(&number)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const DOCUMENT: &str = include_str!("../docs/errors.md");

    /// The cells of the document's rows that begin with a number, by that number.
    fn documented() -> BTreeMap<u32, Vec<&'static str>> {
        let mut rows = BTreeMap::new();
        for line in DOCUMENT.lines() {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            if let [_, number, cells @ .., _] = &cells[..]
                && let Ok(number) = number.parse()
            {
                let former = rows.insert(number, cells.to_vec());
                assert_eq!(former, None, "{number} is listed twice");
            }
        }
        rows
    }

    /// What the document says of a number is what the client does.
    #[test]
    fn documented_numbers_are_classified_as_the_document_says() {
        let documented = documented();
        let server: BTreeMap<_, _> = documented
            .iter()
            .filter(|(number, _)| !OURS.contains(*number))
            .collect();
        for (number, cells) in &server {
            let [meaning, class, source] = cells[..] else {
                panic!("{number} has cells {cells:?}");
            };
            assert!(!meaning.is_empty() && !source.is_empty(), "{number}");
            let (expected, is_moved) = match class {
                "passes" => (ErrorClass::Retryable, false),
                "moved" => (ErrorClass::Retryable, true),
                "permanent" => (ErrorClass::Permanent, false),
                other => panic!("{number} is called {other}"),
            };
            // Azure has severities of its own.
            for severity in 10..=25 {
                let found = classify(**number, severity);
                assert_eq!(found, expected, "{number} with severity {severity}");
            }
            assert_eq!(says_moved(**number), is_moved, "{number}");
            assert_eq!(classify_settling(**number), ErrorClass::Retryable);
        }
        for number in PASSING.iter().chain(PERMANENT) {
            assert!(server.contains_key(number), "{number} is not documented");
        }
    }

    #[test]
    fn numbers_are_listed_once_and_moved_ones_pass() {
        let mut numbers = [PASSING, PERMANENT].concat();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), PASSING.len() + PERMANENT.len());
        assert!(MOVED.iter().all(|number| PASSING.contains(number)));
        let of_the_schema = OF_THE_SCHEMA.iter();
        assert!(
            of_the_schema
                .clone()
                .all(|number| PERMANENT.contains(number))
        );
        // The document names them in a sentence.
        let named: Vec<_> = of_the_schema.map(u32::to_string).collect();
        let (last, others) = named.split_last().unwrap();
        let sentence = format!("({} and {last})", others.join(", "));
        assert!(DOCUMENT.contains(&sentence), "{sentence}");
    }

    #[test]
    fn our_own_numbers_are_permanent_for_every_call() {
        for number in OURS {
            assert_eq!(classify(number, 16), ErrorClass::Permanent, "{number}");
            assert_eq!(classify_settling(number), ErrorClass::Permanent, "{number}");
        }
    }

    /// The numbers that follow THROW in the procedures.
    fn thrown() -> Vec<u32> {
        let folder = |name: &str| {
            let path = format!("{}/migrations/{name}", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_dir(path).unwrap()
        };
        let files = folder("procedures").chain(folder("install"));
        let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        let numbers = |text: String| -> Vec<u32> {
            let throws = text
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("THROW "));
            throws
                .map(|rest| rest.split(',').next().unwrap().parse().unwrap())
                .collect()
        };
        let mut thrown: Vec<_> = texts.flat_map(numbers).collect();
        thrown.sort_unstable();
        thrown.dedup();
        thrown
    }

    #[test]
    fn numbers_that_procedures_throw_are_the_documented_ones() {
        let documented = documented();
        let ours = documented.keys().copied().filter(|n| OURS.contains(n));
        assert_eq!(ours.collect::<Vec<_>>(), thrown());
    }

    #[test]
    fn unknown_numbers_are_decided_by_severity_unless_a_lease_is_at_stake() {
        assert_eq!(classify(777_777, 16), ErrorClass::Permanent);
        for severity in 17..=25 {
            assert_eq!(
                classify(777_777, severity),
                ErrorClass::Retryable,
                "{severity}"
            );
        }
        assert_eq!(classify_settling(777_777), ErrorClass::Retryable);
    }
}
