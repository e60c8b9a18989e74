//! The protocol versions a client may speak and what each of them can carry.

/// A version of TDS, oldest first, so that `>=` asks whether a feature is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    /// SQL Server 2000: no MAX types, no ALL_HEADERS, 32-bit row counts.
    V71,
    /// SQL Server 2005: MAX types, ALL_HEADERS, transaction-manager requests.
    V72,
    /// SQL Server 2008: DATE, TIME, DATETIME2 and DATETIMEOFFSET.
    V73,
    /// SQL Server 2012 and later: feature extensions.
    V74,
    /// TDS 8.0: TLS before PRELOGIN, otherwise as 7.4.
    V80,
}

impl Version {
    /// The version LOGIN7 asks for, or `None` when it is older than any we speak.
    ///
    /// A client that is newer than the server gets the server's best, as the protocol demands.
    pub(crate) fn from_login(number: u32) -> Option<Self> {
        if number == 0x0800_0000 {
            return Some(Self::V80);
        }
        match number >> 24 {
            0x71 => Some(Self::V71),
            0x72 => Some(Self::V72),
            0x73 => Some(Self::V73),
            major if major >= 0x74 => Some(Self::V74),
            _ => None,
        }
    }

    /// The number LOGINACK confirms, to be sent in network byte order.
    pub(crate) fn acknowledged(self) -> u32 {
        match self {
            Self::V71 => 0x7100_0001,
            Self::V72 => 0x7209_0002,
            Self::V73 => 0x730B_0003,
            Self::V74 => 0x7400_0004,
            Self::V80 => 0x0800_0000,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    /// Every revision clients really send is understood; TDS 7.0 and older are not.
    #[test]
    fn from_login_knows_the_revisions_in_use() {
        for (number, version) in [
            (0x7100_0000, Some(Version::V71)),
            (0x7100_0001, Some(Version::V71)),
            (0x7209_0002, Some(Version::V72)),
            (0x730A_0003, Some(Version::V73)),
            (0x730B_0003, Some(Version::V73)),
            (0x7400_0004, Some(Version::V74)),
            (0x0800_0000, Some(Version::V80)),
            (0x7000_0000, None),
            (0x0402_0000, None),
        ] {
            assert_eq!(Version::from_login(number), version, "{number:#x}");
        }
    }
}
