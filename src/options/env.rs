//! The variables of the environment that settings come from.

/// A variable of the environment; an empty one counts as none.
pub(super) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
