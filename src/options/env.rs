//! The variables of the environment that settings come from.

use std::env::VarError;

use super::OptionsError;

/// A variable of the environment; an empty one counts as none.
pub(super) fn env(name: &'static str) -> Result<Option<String>, OptionsError> {
    meaning(name, std::env::var(name))
}

/// One that is there and cannot be read must not be taken for none: the default schema is another one.
fn meaning(
    name: &'static str,
    value: Result<String, VarError>,
) -> Result<Option<String>, OptionsError> {
    match value {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(_)) => Err(OptionsError::Environment {
            name,
            expected: "text in UTF-8",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_cannot_be_read_are_refused() {
        let read = |value| meaning("X", value);
        assert_eq!(read(Ok("a".into())), Ok(Some("a".into())));
        assert_eq!(read(Ok(String::new())), Ok(None));
        assert_eq!(read(Err(VarError::NotPresent)), Ok(None));
        let error = read(Err(VarError::NotUnicode("secret".into()))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "environment variable X must be text in UTF-8"
        );
    }
}
