//! Case folding and sort weights of single UTF-16 code units.

/// The lower-case form of a code unit where that is one unit, otherwise the unit itself.
pub(crate) fn fold_unit(unit: u16) -> u16 {
    match unit {
        0x41..=0x5A => unit + 0x20,
        0..=0x7F => unit,
        _ => map_unit(unit, |c| single(c.to_lowercase())),
    }
}

/// The upper-case form of a code unit where that is one unit, otherwise the unit itself.
pub(crate) fn upper_unit(unit: u16) -> u16 {
    match unit {
        0x61..=0x7A => unit - 0x20,
        0..=0x7F => unit,
        _ => map_unit(unit, |c| single(c.to_uppercase())),
    }
}

fn map_unit(unit: u16, map: impl Fn(char) -> Option<char>) -> u16 {
    char::from_u32(u32::from(unit))
        .and_then(map)
        .and_then(|c| u16::try_from(u32::from(c)).ok())
        .unwrap_or(unit)
}

fn single(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next();
    if chars.next().is_some() { None } else { first }
}

/// The lower-case Latin letters with a mark, each with its base letter; the position within the
/// group is the accent's weight. Only letters whose base letter decides their place are listed.
const ACCENTED: [(&str, &str); 22] = [
    ("a", "àáâãäåāăąæ"),
    ("b", "ƀ"),
    ("c", "çćĉċč"),
    ("d", "ďđð"),
    ("e", "èéêëēĕėęě"),
    ("f", "ƒ"),
    ("g", "ĝğġģ"),
    ("h", "ĥħ"),
    ("i", "ìíîïĩīĭįı"),
    ("j", "ĵ"),
    ("k", "ķĸ"),
    ("l", "ĺļľŀł"),
    ("n", "ñńņňŉŋ"),
    ("o", "òóôõöøōŏőœ"),
    ("p", "ƥ"),
    ("r", "ŕŗř"),
    ("s", "śŝşšß"),
    ("t", "ţťŧþ"),
    ("u", "ùúûüũūŭůűų"),
    ("w", "ŵ"),
    ("y", "ýÿŷ"),
    ("z", "źżž"),
];

/// Primary and accent weight of a folded unit. Distinct units have distinct weights; a primary
/// weight of 0x8000 stands for "by code point".
pub(crate) fn weight(lower: u16) -> (u32, u8) {
    match lower {
        0x20 => (0x0002, 0),
        0x30..=0x39 => (0x0200 + u32::from(lower), 0),
        0x61..=0x7A => (0x0300 + u32::from(lower), 0),
        0..=0xBF | 0xD7 | 0xF7 => (0x0010 + u32::from(lower), 0),
        0xC0..=0x024F => latin(lower).unwrap_or((0x8000, 0)),
        _ => (0x8000, 0),
    }
}

fn latin(lower: u16) -> Option<(u32, u8)> {
    let letter = char::from_u32(u32::from(lower))?;
    for (base, group) in ACCENTED {
        if let Some(index) = group.chars().position(|c| c == letter) {
            let base = u32::from(base.as_bytes()[0]);
            return Some((0x0300 + base, index as u8 + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_is_idempotent_and_weights_tell_folded_units_apart() {
        let mut seen = std::collections::HashMap::new();
        for unit in 0..=u16::MAX {
            let lower = fold_unit(unit);
            assert_eq!(fold_unit(lower), lower);
            let (primary, accent) = weight(lower);
            let key = if primary == 0x8000 {
                (0x10000 + u32::from(lower), 0)
            } else {
                (primary, accent)
            };
            assert_eq!(*seen.entry(key).or_insert(lower), lower, "{unit:x}");
        }
    }
}
