//! The options of a connection string: their names, and the names of other drivers.

/// An option that is known by name, used or not. `docs/connecting.md` says what each does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Server,
    Port,
    Database,
    User,
    Password,
    Encrypt,
    TrustServerCertificate,
    TrustServerCertificateCa,
    ServerCertificate,
    HostNameInCertificate,
    ApplicationName,
    WorkstationId,
    ConnectTimeout,
    CommandTimeout,
    PacketSize,
    MaxPoolSize,
    MinPoolSize,
    LoadBalanceTimeout,
    Pooling,
    MultiSubnetFailover,
    ApplicationIntent,
    ConnectRetryCount,
    ConnectRetryInterval,
    FailoverPartner,
    Authentication,
    IntegratedSecurity,
    PersistSecurityInfo,
    MultipleActiveResultSets,
    Enlist,
    ColumnEncryptionSetting,
    AttachDbFileName,
    UserInstance,
    CurrentLanguage,
    NetworkLibrary,
    Driver,
    Dsn,
    Provider,
}

/// Every spelling, without spaces and underscores and in small letters. The first of a key is
/// the one that errors show.
const NAMES: &[(&str, &str, Key)] = &[
    ("server", "server", Key::Server),
    ("datasource", "server", Key::Server),
    ("address", "server", Key::Server),
    ("addr", "server", Key::Server),
    ("networkaddress", "server", Key::Server),
    ("port", "port", Key::Port),
    ("database", "database", Key::Database),
    ("initialcatalog", "database", Key::Database),
    ("databasename", "database", Key::Database),
    ("userid", "user id", Key::User),
    ("uid", "user id", Key::User),
    ("user", "user id", Key::User),
    ("username", "user id", Key::User),
    ("password", "password", Key::Password),
    ("pwd", "password", Key::Password),
    ("encrypt", "encrypt", Key::Encrypt),
    (
        "trustservercertificate",
        "trustServerCertificate",
        Key::TrustServerCertificate,
    ),
    (
        "trustservercertificateca",
        "trustServerCertificateCA",
        Key::TrustServerCertificateCa,
    ),
    (
        "servercertificate",
        "serverCertificate",
        Key::ServerCertificate,
    ),
    (
        "hostnameincertificate",
        "hostNameInCertificate",
        Key::HostNameInCertificate,
    ),
    ("applicationname", "application name", Key::ApplicationName),
    ("app", "application name", Key::ApplicationName),
    ("workstationid", "workstation id", Key::WorkstationId),
    ("wsid", "workstation id", Key::WorkstationId),
    ("connecttimeout", "connect timeout", Key::ConnectTimeout),
    ("connectiontimeout", "connect timeout", Key::ConnectTimeout),
    ("timeout", "connect timeout", Key::ConnectTimeout),
    ("commandtimeout", "command timeout", Key::CommandTimeout),
    ("packetsize", "packet size", Key::PacketSize),
    ("maxpoolsize", "max pool size", Key::MaxPoolSize),
    ("minpoolsize", "min pool size", Key::MinPoolSize),
    (
        "loadbalancetimeout",
        "load balance timeout",
        Key::LoadBalanceTimeout,
    ),
    (
        "connectionlifetime",
        "load balance timeout",
        Key::LoadBalanceTimeout,
    ),
    ("pooling", "pooling", Key::Pooling),
    (
        "multisubnetfailover",
        "multiSubnetFailover",
        Key::MultiSubnetFailover,
    ),
    (
        "applicationintent",
        "applicationIntent",
        Key::ApplicationIntent,
    ),
    (
        "connectretrycount",
        "connect retry count",
        Key::ConnectRetryCount,
    ),
    (
        "connectretryinterval",
        "connect retry interval",
        Key::ConnectRetryInterval,
    ),
    ("failoverpartner", "failover partner", Key::FailoverPartner),
    ("authentication", "authentication", Key::Authentication),
    (
        "integratedsecurity",
        "integrated security",
        Key::IntegratedSecurity,
    ),
    (
        "trustedconnection",
        "integrated security",
        Key::IntegratedSecurity,
    ),
    (
        "persistsecurityinfo",
        "persist security info",
        Key::PersistSecurityInfo,
    ),
    (
        "multipleactiveresultsets",
        "multipleActiveResultSets",
        Key::MultipleActiveResultSets,
    ),
    (
        "marsconnection",
        "multipleActiveResultSets",
        Key::MultipleActiveResultSets,
    ),
    ("enlist", "enlist", Key::Enlist),
    (
        "columnencryptionsetting",
        "column encryption setting",
        Key::ColumnEncryptionSetting,
    ),
    (
        "columnencryption",
        "column encryption setting",
        Key::ColumnEncryptionSetting,
    ),
    (
        "attachdbfilename",
        "attachDbFileName",
        Key::AttachDbFileName,
    ),
    ("userinstance", "user instance", Key::UserInstance),
    ("currentlanguage", "current language", Key::CurrentLanguage),
    ("language", "current language", Key::CurrentLanguage),
    ("networklibrary", "network library", Key::NetworkLibrary),
    ("driver", "driver", Key::Driver),
    ("dsn", "dsn", Key::Dsn),
    ("filedsn", "dsn", Key::Dsn),
    ("provider", "provider", Key::Provider),
];

impl Key {
    /// Finds an option by any of its spellings.
    pub(crate) fn find(text: &str) -> Option<Self> {
        let folded = fold(text);
        let found = NAMES.iter().find(|(name, _, _)| *name == folded);
        found.map(|(_, _, key)| *key)
    }

    /// The name that errors show: ours, never the one in the connection string.
    pub(crate) fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(_, _, key)| *key == self);
        found.map_or("option", |(_, shown, _)| shown)
    }

    /// The known name that a misspelt one most likely means.
    pub(crate) fn similar_to(text: &str) -> Option<&'static str> {
        let folded = fold(text);
        let distances = NAMES
            .iter()
            .filter(|(name, _, _)| name.len() > 3)
            .map(|(name, shown, _)| (distance(name, &folded), *shown));
        distances
            .filter(|(distance, _)| *distance <= 2)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, shown)| shown)
    }
}

fn fold(text: &str) -> String {
    let kept = text.chars().filter(|c| !c.is_whitespace() && *c != '_');
    kept.flat_map(char::to_lowercase).collect()
}

/// How many letters must be changed, added or removed to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = corner + usize::from(letter != *other);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_spacing() {
        assert_eq!(Key::find("Data Source"), Some(Key::Server));
        assert_eq!(
            Key::find(" TRUSTED_CONNECTION "),
            Some(Key::IntegratedSecurity)
        );
        assert_eq!(Key::find("databse"), None);
    }

    #[test]
    fn misspelt_names_are_recognised() {
        assert_eq!(Key::similar_to("databse"), Some("database"));
        assert_eq!(Key::similar_to("encrypted"), Some("encrypt"));
        assert_eq!(Key::similar_to("pasword"), Some("password"));
        assert_eq!(Key::similar_to("hunter2"), None);
    }

    /// The document has a row for every option.
    #[test]
    fn every_option_is_documented() {
        let document = include_str!("../../docs/connecting.md");
        for (_, shown, _) in NAMES {
            assert!(document.contains(&format!("| `{shown}`")), "{shown}");
        }
    }
}
