//! Which collation texts have once they have met: "Collation Precedence (Transact-SQL)".

use crate::error::{SqlError, SqlResult};
use crate::func::Callable;
use crate::value::{Collation, ColumnMeta, Conflict};

use super::typing::{Coercibility, Ex};

/// What is done with texts that meet, by the name that messages use.
#[derive(Clone, Copy)]
pub(super) enum Meeting<'n> {
    /// They are compared, which needs a collation now.
    Compared(&'n str),
    /// They become one value. A conflict matters now only if the value needs a code page, which Unicode does not.
    Joined(&'static str),
    /// They become one value without being converted to its type first: CONCAT.
    Listed(&'static str),
}

impl Meeting<'_> {
    fn name(&self) -> &str {
        match self {
            Self::Compared(name) => name,
            Self::Joined(name) | Self::Listed(name) => name,
        }
    }
}

/// Settles the collation of texts that meet; all of them get it. What is not text takes no part.
///
/// # Errors
///
/// 468 and 4191 where a comparison has no collation, 456 and 457 where a VARCHAR has none.
pub(super) fn settle<'e>(
    list: impl IntoIterator<Item = &'e mut Ex>,
    meeting: Meeting<'_>,
) -> SqlResult<Coercibility> {
    let mut texts: Vec<&mut Ex> = list.into_iter().filter(|ex| ex.ty.is_string()).collect();
    let (label, collation) = decide(&texts, meeting)?;
    if let Some(collation) = collation {
        for text in &mut texts {
            text.ty = text.ty.with_collation(collation);
        }
    }
    Ok(label)
}

/// The label of the whole and its collation.
fn decide(texts: &[&mut Ex], meeting: Meeting<'_>) -> SqlResult<(Coercibility, Option<Collation>)> {
    let top = texts.iter().map(|ex| ex.coll.rank()).max().unwrap_or(0);
    let mut decisive = texts.iter().filter(|ex| ex.coll.rank() == top);
    let Some(first) = decisive.next() else {
        return Ok((Coercibility::Default, None));
    };
    let Some(collation) = first.ty.collation() else {
        return Ok((first.coll, None));
    };
    let unicode = texts.iter().any(|ex| ex.ty.is_unicode());
    if let Coercibility::Unresolved(conflict) = first.coll {
        return match meeting {
            Meeting::Compared(operation) => Err(unsettled(operation)),
            Meeting::Joined(_) if !unicode => Err(no_result(first, conflict)),
            Meeting::Joined(_) | Meeting::Listed(_) => Ok((first.coll, Some(collation))),
        };
    }
    let other = decisive.find_map(|ex| ex.ty.collation().filter(|c| *c != collation));
    let (Some(later), true) = (other, first.coll != Coercibility::Default) else {
        return Ok((first.coll, Some(collation)));
    };
    let explicit = first.coll == Coercibility::Explicit;
    let operator = match meeting {
        Meeting::Joined(operator) | Meeting::Listed(operator) if !explicit => operator,
        Meeting::Compared(_) | Meeting::Joined(_) | Meeting::Listed(_) => {
            return Err(refused(later, collation, meeting.name()));
        }
    };
    let conflict = Conflict {
        later,
        earlier: collation,
        operator,
    };
    match meeting {
        Meeting::Joined(_) if !unicode => Err(no_value(first, conflict)),
        Meeting::Compared(_) | Meeting::Joined(_) | Meeting::Listed(_) => {
            Ok((Coercibility::Unresolved(conflict), Some(collation)))
        }
    }
}

/// The functions that need a collation for their work, with the names they have in messages.
const SENSITIVE: &[(&str, &str)] = &[
    ("CHARINDEX", "charindex"),
    ("DIFFERENCE", "difference"),
    ("LEFT", "left"),
    ("LEN", "len"),
    ("LOWER", "lower"),
    ("LTRIM", "ltrim"),
    ("PATINDEX", "patindex"),
    ("REPLACE", "replace"),
    ("REVERSE", "reverse"),
    ("RIGHT", "right"),
    ("RTRIM", "rtrim"),
    ("SOUNDEX", "soundex"),
    ("STUFF", "stuff"),
    ("SUBSTRING", "substring"),
    ("TRANSLATE", "translate"),
    ("TRIM", "Trim"),
    ("UNICODE", "unicode"),
    ("UPPER", "upper"),
];

/// Settles the collation of a function's arguments; the result is the label of the function's text and its
/// collation, `None` being the database's.
///
/// The functions of JSON say of their result that it has the collation of their first argument; so it is taken of the
/// others that neither compare nor join. What the dictionary answers is nobody's column.
pub(super) fn arguments(
    function: Callable,
    args: &mut [Ex],
) -> SqlResult<(Coercibility, Option<Collation>)> {
    let name = match function {
        Callable::Computed(function) => function.name,
        Callable::Metadata(_) => return Ok((Coercibility::Default, None)),
    };
    let sensitive = SENSITIVE.iter().find(|(known, _)| *known == name);
    let meeting = match (name, sensitive) {
        (_, Some((_, operation))) => Some(Meeting::Compared(operation)),
        ("CONCAT", None) => Some(Meeting::Listed("concat")),
        ("CONCAT_WS", None) => Some(Meeting::Listed("concat_ws")),
        ("CHOOSE", None) => Some(Meeting::Joined("CHOOSE")),
        (_, None) => None,
    };
    let settled = match meeting {
        Some(meeting) => Some(settle(args.iter_mut(), meeting)?),
        None => None,
    };
    let Some(first) = args.iter().find(|ex| ex.ty.is_string()) else {
        return Ok((Coercibility::Default, None));
    };
    Ok((settled.unwrap_or(first.coll), first.ty.collation()))
}

/// Refuses columns of a result that have no collation.
///
/// # Errors
///
/// 451.
pub(super) fn require_settled(columns: &[ColumnMeta], clause: &str) -> SqlResult<()> {
    for (i, column) in columns.iter().enumerate() {
        require_column(column.label, clause, i + 1)?;
    }
    Ok(())
}

/// The same for one column or key.
pub(super) fn require_column(label: Coercibility, clause: &str, position: usize) -> SqlResult<()> {
    let Some(conflict) = label.conflict() else {
        return Ok(());
    };
    Err(SqlError::new(
        451,
        format!(
            "Cannot resolve collation conflict {} occurring in {clause} statement column {position}.",
            between(conflict)
        ),
    ))
}

/// 446 for an operation on a text without a collation; each operation has its own state.
pub(super) fn require_for(label: Coercibility, operation: &str, state: u8) -> SqlResult<()> {
    let Some(conflict) = label.conflict() else {
        return Ok(());
    };
    Err(SqlError::with(
        446,
        16,
        state,
        format!(
            "Cannot resolve collation conflict {} for {operation} operation.",
            between(conflict)
        ),
    ))
}

/// 4191: an operation needs a collation and there is none.
pub(super) fn unsettled(operation: &str) -> SqlError {
    SqlError::with(
        4191,
        16,
        9,
        format!("Cannot resolve collation conflict for {operation} operation."),
    )
}

fn refused(later: Collation, earlier: Collation, operation: &str) -> SqlError {
    let (later, earlier) = (later.name(), earlier.name());
    SqlError::with(
        468,
        16,
        9,
        format!(
            "Cannot resolve the collation conflict between \"{later}\" and \"{earlier}\" in the \
             {operation} operation."
        ),
    )
}

fn between(conflict: Conflict) -> String {
    let (later, earlier) = (conflict.later.name(), conflict.earlier.name());
    let operator = conflict.operator;
    format!("between \"{later}\" and \"{earlier}\" in {operator} operator")
}

/// 457: two texts with a code page become one, and nobody knows which.
fn no_value(text: &Ex, conflict: Conflict) -> SqlError {
    let ty = text.ty.name();
    SqlError::new(
        457,
        format!(
            "Implicit conversion of {ty} value to {ty} cannot be performed because the collation of \
             the value is unresolved due to a collation conflict {}.",
            between(conflict)
        ),
    )
}

/// 456: the same for a text that had no collation before.
fn no_result(text: &Ex, conflict: Conflict) -> SqlError {
    let ty = text.ty.name();
    SqlError::new(
        456,
        format!(
            "Implicit conversion of {ty} value to {ty} cannot be performed because the resulting \
             collation is unresolved due to collation conflict {}.",
            between(conflict)
        ),
    )
}
