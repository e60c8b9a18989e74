//! Values as the texts that PRINT, RAISERROR and dynamic SQL take.

use crate::error::SqlResult;
use crate::value::{CastMode, Collation, DataType, Length, Value, cast};

/// A value as text, at most `limit` characters.
pub fn text_up_to(limit: usize, value: &Value, ty: &DataType) -> SqlResult<String> {
    let text = text_of(value, ty)?;
    Ok(if text.len() > limit {
        text.chars().take(limit).collect()
    } else {
        text
    })
}

/// A value as text, the whole of it.
pub fn text_of(value: &Value, ty: &DataType) -> SqlResult<String> {
    let target = DataType::NVarChar(Length::Max, Collation::SqlLatin1CiAs);
    Ok(match value {
        Value::Str(s) => String::from_utf16_lossy(s),
        Value::Null => String::new(),
        other @ (Value::Bit(_)
        | Value::Int(_)
        | Value::Decimal { .. }
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Guid(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime { .. }
        | Value::DateTimeOffset { .. }) => {
            if let Value::Str(s) = cast(other, ty, &target, None, CastMode::Explicit)? {
                String::from_utf16_lossy(&s)
            } else {
                String::new()
            }
        }
    })
}
