//! Reads what the database stores.

use duroxide::Event;
use duroxide::providers::WorkItem;

use crate::error::CallError;

/// Reads a stored event.
pub(crate) fn decode_event(text: &str) -> Result<Event, CallError> {
    serde_json::from_str(text)
        .map_err(|error| CallError::Data(format!("stored event cannot be read: {}", fault(&error))))
}

/// Reads a stored work item.
pub(crate) fn decode_work_item(text: &str) -> Result<WorkItem, CallError> {
    serde_json::from_str(text).map_err(|error| {
        CallError::Data(format!("stored message cannot be read: {}", fault(&error)))
    })
}

/// Reads a stored activity. Whoever puts another kind of item into the worker queue by hand would end the runtime's worker for good.
pub(crate) fn decode_activity(text: &str) -> Result<WorkItem, CallError> {
    match decode_work_item(text)? {
        activity @ WorkItem::ActivityExecute { .. } => Ok(activity),
        _ => Err(CallError::Data("stored message is no activity".to_owned())),
    }
}

/// What is wrong with a text, without the text: where a value has the wrong type, the decoder's own
/// message shows the value, which may be somebody's payload.
fn fault(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(", expected ") {
        Some((found, expected)) if found.starts_with("invalid ") => {
            format!("found something else where this release has {expected}")
        }
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of the wrong type is not shown: it may be what somebody's work carries.
    #[test]
    fn faults_do_not_show_the_text() {
        let nested = r#"{"instance_id": ["secret, expected "], "event_id": "secret"}"#;
        for text in [r#"["secret", 1]"#, nested, "secret", "[\"secret\""] {
            for fault in [
                decode_event(text).unwrap_err(),
                decode_work_item(text).unwrap_err(),
            ] {
                let fault = fault.to_string();
                assert!(!fault.contains("secret"), "{fault}");
                assert!(fault.contains("line 1"), "{fault}");
            }
        }
    }

    /// What a newer release wrote is named, so that somebody can find out which one.
    #[test]
    fn unknown_kinds_are_named() {
        let fault = decode_work_item(r#"{"Novelty": {}}"#)
            .unwrap_err()
            .to_string();
        assert!(fault.contains("unknown variant `Novelty`"), "{fault}");
    }
}
