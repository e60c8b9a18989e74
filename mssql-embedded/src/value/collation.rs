//! The collations the engine knows and how they compare.

/// A collation, by what it does to comparisons and storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collation {
    /// SQL_Latin1_General_CP1_CI_AS, the server default.
    SqlLatin1CiAs,
    /// Latin1_General_CI_AS and Latin1_General_100_CI_AS.
    Latin1CiAs,
    /// Latin1_General_CS_AS, Latin1_General_100_CS_AS and SQL_Latin1_General_CP1_CS_AS.
    Latin1CsAs,
    /// Latin1_General_BIN2 and Latin1_General_100_BIN2: code units.
    Bin2,
    /// Latin1_General_100_BIN2_UTF8: code units, VARCHAR stored as UTF-8.
    Bin2Utf8,
    /// Latin1_General_100_CI_AS_SC_UTF8.
    CiAsUtf8,
}
