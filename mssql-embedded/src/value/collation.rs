//! The collations the engine knows and how they compare.
//!
//! Comparison pads the shorter text with spaces, in every collation. The binary collations compare
//! code units; the linguistic ones compare in levels (base letters, then accents, then case where
//! case counts, then hyphens and apostrophes), which is the shape of Windows' collations. Sort
//! keys of the linguistic collations are exact for Latin letters and follow code points elsewhere.

use std::cmp::Ordering;

use super::fold::{fold_unit, weight};

const SPACE: u16 = 0x20;

/// A collation, by what it does to comparisons and storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collation {
    /// SQL_Latin1_General_CP1_CI_AS, the server default.
    SqlLatin1CiAs,
    /// SQL_Latin1_General_CP1_CS_AS.
    SqlLatin1CsAs,
    /// Latin1_General_CI_AS.
    Latin1CiAs,
    /// Latin1_General_CS_AS.
    Latin1CsAs,
    /// Latin1_General_100_CI_AS.
    Latin100CiAs,
    /// Latin1_General_100_CS_AS.
    Latin100CsAs,
    /// Latin1_General_BIN2: code units.
    Latin1Bin2,
    /// Latin1_General_100_BIN2: code units.
    Bin2,
    /// Latin1_General_100_BIN2_UTF8: code points, VARCHAR stored as UTF-8.
    Bin2Utf8,
    /// Latin1_General_100_CI_AS_SC_UTF8.
    CiAsUtf8,
}

const ALL: [(Collation, &str); 10] = [
    (Collation::SqlLatin1CiAs, "SQL_Latin1_General_CP1_CI_AS"),
    (Collation::SqlLatin1CsAs, "SQL_Latin1_General_CP1_CS_AS"),
    (Collation::Latin1CiAs, "Latin1_General_CI_AS"),
    (Collation::Latin1CsAs, "Latin1_General_CS_AS"),
    (Collation::Latin100CiAs, "Latin1_General_100_CI_AS"),
    (Collation::Latin100CsAs, "Latin1_General_100_CS_AS"),
    (Collation::Latin1Bin2, "Latin1_General_BIN2"),
    (Collation::Bin2, "Latin1_General_100_BIN2"),
    (Collation::Bin2Utf8, "Latin1_General_100_BIN2_UTF8"),
    (Collation::CiAsUtf8, "Latin1_General_100_CI_AS_SC_UTF8"),
];

impl Collation {
    /// The collation of this name in any case, or `None` when the engine does not have it.
    pub fn by_name(name: &str) -> Option<Self> {
        ALL.iter()
            .find(|(_, n)| n.eq_ignore_ascii_case(name))
            .map(|(c, _)| *c)
    }

    /// Every collation with its name, for `sys.fn_helpcollations` and the documentation.
    pub fn all() -> impl Iterator<Item = (Self, &'static str)> {
        ALL.into_iter()
    }

    /// The name in SQL Server's spelling.
    pub fn name(self) -> &'static str {
        ALL.iter().find(|(c, _)| *c == self).map_or("", |(_, n)| n)
    }

    /// Whether text compares by code units.
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Latin1Bin2 | Self::Bin2 | Self::Bin2Utf8)
    }

    /// Whether upper and lower case are equal.
    pub fn is_case_insensitive(self) -> bool {
        matches!(
            self,
            Self::SqlLatin1CiAs | Self::Latin1CiAs | Self::Latin100CiAs | Self::CiAsUtf8
        )
    }

    /// Whether VARCHAR is stored as UTF-8 and so keeps every character.
    pub fn is_utf8(self) -> bool {
        matches!(self, Self::Bin2Utf8 | Self::CiAsUtf8)
    }

    /// Whether string functions count a surrogate pair as one character.
    pub fn is_supplementary(self) -> bool {
        matches!(self, Self::CiAsUtf8)
    }

    /// The code unit that represents all code units equal to `unit` in this collation.
    pub fn fold(self, unit: u16) -> u16 {
        if self.is_case_insensitive() {
            fold_unit(unit)
        } else {
            unit
        }
    }

    /// The order of two texts, in which trailing spaces do not count.
    pub fn compare(self, a: &[u16], b: &[u16]) -> Ordering {
        if self.is_binary() {
            return compare_binary(a, b, self == Self::Bin2Utf8);
        }
        if self.equal(a, b) {
            return Ordering::Equal;
        }
        let (mut ka, mut kb) = (Vec::new(), Vec::new());
        self.sort_key(a, &mut ka);
        self.sort_key(b, &mut kb);
        ka.cmp(&kb)
    }

    /// Whether two texts are equal; cheaper than [`compare`](Self::compare).
    pub fn equal(self, a: &[u16], b: &[u16]) -> bool {
        let (a, b) = (trim_end(a), trim_end(b));
        a.len() == b.len()
            && (a == b
                || (self.is_case_insensitive()
                    && a.iter()
                        .zip(b)
                        .all(|(x, y)| x == y || fold_unit(*x) == fold_unit(*y))))
    }

    /// Appends bytes whose `memcmp` order is the order of [`compare`](Self::compare) and which are
    /// the same for equal texts. No key is a prefix of a different key.
    pub fn sort_key(self, text: &[u16], out: &mut Vec<u8>) {
        let text = trim_end(text);
        if self.is_binary() {
            binary_key(text, self == Self::Bin2Utf8, out);
        } else {
            linguistic_key(text, !self.is_case_insensitive(), out);
        }
    }
}

fn trim_end(text: &[u16]) -> &[u16] {
    let len = text.iter().rposition(|u| *u != SPACE).map_or(0, |i| i + 1);
    &text[..len]
}

/// Maps code units so that their order is that of code points: surrogates after the rest of the
/// basic plane, as UTF-8 bytes would have it.
fn code_point_order(unit: u16) -> u16 {
    match unit {
        0xE000.. => unit - 0x800,
        0xD800.. => unit + 0x2000,
        _ => unit,
    }
}

fn compare_binary(a: &[u16], b: &[u16], code_points: bool) -> Ordering {
    let map = |u: u16| if code_points { code_point_order(u) } else { u };
    let shared = a.len().min(b.len());
    if let Some(i) = (0..shared).find(|&i| a[i] != b[i]) {
        return map(a[i]).cmp(&map(b[i]));
    }
    let against_spaces = |rest: &[u16]| {
        rest.iter()
            .find(|u| **u != SPACE)
            .map_or(Ordering::Equal, |u| u.cmp(&SPACE))
    };
    if a.len() > b.len() {
        against_spaces(&a[shared..])
    } else {
        against_spaces(&b[shared..]).reverse()
    }
}

/// The end of a text counts as endless spaces, so a run of spaces is encoded by what follows it:
/// runs before something smaller than a space come before the end, shorter runs first; runs before
/// something greater come after the end, longer runs first.
fn binary_key(text: &[u16], code_points: bool, out: &mut Vec<u8>) {
    out.reserve(text.len() * 2 + 3);
    let mut i = 0;
    while i < text.len() {
        if text[i] != SPACE {
            let unit = if code_points {
                code_point_order(text[i])
            } else {
                text[i]
            };
            out.extend_from_slice(&unit.to_be_bytes());
            i += 1;
            continue;
        }
        let run = text[i..].iter().take_while(|u| **u == SPACE).count();
        let length = u32::try_from(run).unwrap_or(u32::MAX);
        out.extend_from_slice(&SPACE.to_be_bytes());
        i += run;
        if text.get(i).is_some_and(|next| *next < SPACE) {
            out.push(1);
            out.extend_from_slice(&length.to_be_bytes());
        } else {
            out.push(3);
            out.extend_from_slice(&(!length).to_be_bytes());
        }
    }
    out.extend_from_slice(&[0x00, 0x20, 0x02]);
}

fn linguistic_key(text: &[u16], case_level: bool, out: &mut Vec<u8>) {
    let (mut accents, mut cases, mut marks) = (Vec::new(), Vec::new(), Vec::new());
    let mut position: u32 = 0;
    for &unit in text {
        let lower = fold_unit(unit);
        if lower == u16::from(b'-') || lower == u16::from(b'\'') {
            marks.extend_from_slice(&(position + 1).to_be_bytes());
            marks.push(lower as u8);
            continue;
        }
        position += 1;
        let (primary, accent) = weight(lower);
        if primary < 0x8000 {
            out.extend_from_slice(&(primary as u16).to_be_bytes());
        } else {
            out.push(0x80);
            out.extend_from_slice(&lower.to_be_bytes());
        }
        accents.push(accent + 1);
        cases.push(if lower == unit { 1 } else { 2 });
    }
    out.extend_from_slice(&[0, 0]);
    push_level(&accents, out);
    if case_level {
        push_level(&cases, out);
    }
    out.extend_from_slice(&marks);
    out.extend_from_slice(&[0, 0, 0, 0]);
}

/// A level where 1 is the default weight; trailing defaults are left out so that texts without
/// accents have a short key.
fn push_level(weights: &[u8], out: &mut Vec<u8>) {
    let len = weights.iter().rposition(|w| *w != 1).map_or(0, |i| i + 1);
    out.extend_from_slice(&weights[..len]);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(s: &str) -> Vec<u16> {
        s.encode_utf16().collect()
    }

    const WORDS: [&str; 24] = [
        "",
        " ",
        "a",
        "A",
        "a ",
        "ab",
        "aB",
        "a b",
        "a  b",
        "a\tb",
        "a\t",
        "a \t",
        "a  \t",
        "é",
        "e",
        "f",
        "co-op",
        "coop",
        "COOP",
        "z",
        "_",
        "9",
        "ж",
        "a\u{1F600}",
    ];

    #[test]
    fn sort_keys_agree_with_comparison_in_every_collation() {
        for (collation, name) in ALL {
            for a in WORDS {
                for b in WORDS {
                    let (a16, b16) = (units(a), units(b));
                    let (mut ka, mut kb) = (Vec::new(), Vec::new());
                    collation.sort_key(&a16, &mut ka);
                    collation.sort_key(&b16, &mut kb);
                    assert_eq!(
                        ka.cmp(&kb),
                        collation.compare(&a16, &b16),
                        "{name} {a:?} {b:?}"
                    );
                    assert_eq!(ka == kb, collation.equal(&a16, &b16), "{name} {a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn trailing_spaces_never_count_and_case_only_where_the_name_says_so() {
        for (collation, _) in ALL {
            assert!(collation.equal(&units("abc"), &units("abc  ")));
            assert_eq!(
                collation.equal(&units("abc"), &units("ABC")),
                collation.is_case_insensitive()
            );
            assert!(!collation.equal(&units("e"), &units("é")));
        }
    }

    #[test]
    fn binary_padding_puts_control_characters_before_the_end() {
        let c = Collation::Bin2;
        assert_eq!(c.compare(&units("a\t"), &units("a")), Ordering::Less);
        assert_eq!(c.compare(&units("a!"), &units("a")), Ordering::Greater);
        assert_eq!(c.compare(&units("B"), &units("a")), Ordering::Less);
    }

    #[test]
    fn accents_sort_between_letters() {
        let c = Collation::SqlLatin1CiAs;
        assert_eq!(c.compare(&units("é"), &units("f")), Ordering::Less);
        assert_eq!(c.compare(&units("é"), &units("e")), Ordering::Greater);
        assert_eq!(c.compare(&units("ez"), &units("éa")), Ordering::Greater);
    }

    #[test]
    fn names_are_found_in_any_case_and_unknown_ones_are_not() {
        assert_eq!(
            Collation::by_name("latin1_general_100_bin2"),
            Some(Collation::Bin2)
        );
        assert_eq!(Collation::by_name("Turkish_CI_AS"), None);
    }
}
