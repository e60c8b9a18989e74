//! Tokens of leases: unique, and telling an operator who took the lease and when.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The last twelve digits of every token that this process makes.
///
/// `v_workers` and `v_waiting` show it as `worker_id`; the log line of a provider's start names it.
pub(crate) fn worker_id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let random = uuid::Uuid::new_v4().simple().to_string();
        random[20..].to_owned()
    })
}

/// A token that nobody has used before: 36 characters, a UUID of version 8.
///
/// The first twelve digits are milliseconds since 1970 by this process's clock, then come a
/// counter and random bits, then the worker. Two processes never share the last part, and one
/// process repeats its counter only after 4,096 tokens.
pub(super) fn new_token() -> String {
    static COUNTER: AtomicU16 = AtomicU16::new(0);
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let now_ms = since_1970.map_or(0, |elapsed| elapsed.as_millis()) & 0xffff_ffff_ffff;
    let count = COUNTER.fetch_add(1, Ordering::Relaxed) & 0xfff;
    let random = (uuid::Uuid::new_v4().as_u128() & 0x3fff) | 0x8000;
    let (high, low) = (now_ms >> 16, now_ms & 0xffff);
    format!(
        "{high:08x}-{low:04x}-8{count:03x}-{random:04x}-{}",
        worker_id()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_distinct_uuids_of_one_worker() {
        let tokens: std::collections::BTreeSet<_> = (0..4_000).map(|_| new_token()).collect();
        assert_eq!(tokens.len(), 4_000);
        for token in tokens {
            let id = uuid::Uuid::parse_str(&token).expect("a UUID");
            assert_eq!(id.get_version_num(), 8, "{token}");
            assert!(token.ends_with(worker_id()) && token.len() == 36, "{token}");
        }
    }
}
