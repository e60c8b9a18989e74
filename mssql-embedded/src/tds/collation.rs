//! The five bytes by which TDS names a collation.
//!
//! Bits 0 to 19 are the locale, then one bit each for ignoring case, accents, kana and width,
//! binary, binary2, UTF-8 and a reserved one, then four bits of version; the fifth byte is the sort
//! order of the old SQL collations.

use crate::value::Collation;

const ENGLISH_US: u32 = 0x0409;
const IGNORE_CASE: u32 = 1 << 20;
const IGNORE_KANA: u32 = 1 << 22;
const IGNORE_WIDTH: u32 = 1 << 23;
const BINARY: u32 = 1 << 24;
const BINARY2: u32 = 1 << 25;
const UTF8: u32 = 1 << 26;
/// The version nibble of the `_100_` collations.
const VERSION_100: u32 = 2 << 28;
/// The sort orders of SQL_Latin1_General_CP1_CS_AS and _CI_AS.
const SORT_CP1_CS_AS: u8 = 51;
const SORT_CP1_CI_AS: u8 = 52;

const CASE_INSENSITIVE: u32 = ENGLISH_US | IGNORE_CASE | IGNORE_KANA | IGNORE_WIDTH;
const CASE_SENSITIVE: u32 = ENGLISH_US | IGNORE_KANA | IGNORE_WIDTH;

/// The wire form of a collation.
pub(crate) fn to_wire(collation: Collation) -> [u8; 5] {
    let (bits, sort) = match collation {
        Collation::SqlLatin1CiAs => (CASE_INSENSITIVE, SORT_CP1_CI_AS),
        Collation::SqlLatin1CsAs => (CASE_SENSITIVE, SORT_CP1_CS_AS),
        Collation::Latin1CiAs => (CASE_INSENSITIVE, 0),
        Collation::Latin1CsAs => (CASE_SENSITIVE, 0),
        Collation::Latin100CiAs => (CASE_INSENSITIVE | VERSION_100, 0),
        Collation::Latin100CsAs => (CASE_SENSITIVE | VERSION_100, 0),
        Collation::Latin1Bin2 => (ENGLISH_US | BINARY2, 0),
        Collation::Bin2 => (ENGLISH_US | BINARY2 | VERSION_100, 0),
        Collation::Bin2Utf8 => (ENGLISH_US | BINARY2 | UTF8 | VERSION_100, 0),
        Collation::CiAsUtf8 => (CASE_INSENSITIVE | UTF8 | VERSION_100, 0),
    };
    let [a, b, c, d] = bits.to_le_bytes();
    [a, b, c, d, sort]
}

/// The collation a client's five bytes come nearest to.
///
/// A parameter takes its collation from the database, so this only has to tell how VARCHAR bytes
/// are encoded; the rest is kept as well as it can be.
pub(crate) fn from_wire(bytes: [u8; 5]) -> Collation {
    if let Some((exact, _)) = Collation::all().find(|(known, _)| to_wire(*known) == bytes) {
        return exact;
    }
    let [a, b, c, d, _] = bytes;
    let bits = u32::from_le_bytes([a, b, c, d]);
    let binary = bits & (BINARY | BINARY2) != 0;
    if bits & UTF8 != 0 {
        return if binary {
            Collation::Bin2Utf8
        } else {
            Collation::CiAsUtf8
        };
    }
    if binary {
        Collation::Latin1Bin2
    } else if bits & ENGLISH_US == 0 || bits & IGNORE_CASE != 0 {
        Collation::SqlLatin1CiAs
    } else {
        Collation::Latin1CsAs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The default collation has the bytes every SQL Server with US defaults sends.
    #[test]
    fn default_collation_has_the_well_known_bytes() {
        assert_eq!(
            to_wire(Collation::SqlLatin1CiAs),
            [0x09, 0x04, 0xD0, 0x00, 0x34]
        );
    }

    /// Each collation is recognised from its own bytes.
    #[test]
    fn collations_round_trip() {
        for (collation, _) in Collation::all() {
            assert_eq!(from_wire(to_wire(collation)), collation);
        }
    }
}
