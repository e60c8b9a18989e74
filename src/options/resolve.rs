//! Merges what the connection string, the builder and the environment say, and the defaults.

use std::time::Duration;

use super::address::check_host;
use super::builder::MssqlProviderBuilder;
use super::connection_string::ConnectionString;
use super::env::env;
use super::login;
use super::{DEFAULT_SCHEMA, Options, OptionsError, Polling};
use crate::schema_name::SchemaName;

const ENV_SCHEMA: &str = "DUROXIDE_SQL_SCHEMA";
const ENV_POOL_MAX: &str = "DUROXIDE_SQL_POOL_MAX";
const ENV_WAIT_FOR_WORK: &str = "DUROXIDE_SQL_WAIT_FOR_WORK";

/// Enough for eight dispatchers, eight workers and their clients across a network, and still below the
/// 30 requests that the smallest Azure tiers serve at the same time.
const POOL_MAX: u32 = 20;
const POOL_MAX_LIMIT: u32 = 30_000;
const POOL_MIN_IDLE: u32 = 2;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// A paused serverless database takes about a minute to resume.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(90);
/// Below the half hour after which Azure's gateway drops idle connections.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Some ten thousand histories of a few events, or one of a hundred thousand.
const HISTORY_CACHE_BYTES: usize = 64 * 1024 * 1024;
const MAX_LIFETIME: Duration = Duration::from_secs(30 * 60);
/// What the protocol allows.
const PACKET_SIZES: std::ops::RangeInclusive<u32> = 512..=32_767;
/// Of each text in a login packet, in UTF-16 units.
const LOGIN_UNITS_MAX: usize = 128;
/// Nothing that the provider asks should take this long.
const SLOW_CALL_LIMIT: Duration = Duration::from_secs(1);
const POOL_WAIT_LIMIT: Duration = Duration::from_secs(1);

impl MssqlProviderBuilder {
    /// Merges connection string, builder, environment and defaults.
    pub(crate) fn resolve(self) -> Result<Options, OptionsError> {
        let mut string = ConnectionString::parse(&self.url)?.under(self.said);
        if string.host.is_empty() {
            return Err(OptionsError::MissingServer);
        }
        let host = check_host(&string.host)?;
        check_lengths(&string)?;
        let identity = login::identity(&mut string, self.token_source)?;
        let trust_server_certificate = string.trust_server_certificate.unwrap_or(false);
        if trust_server_certificate && string.trust_ca_file.is_some() {
            return Err(OptionsError::TwoTrusts);
        }
        let schema = match self.schema {
            Some(schema) => Some(schema),
            None => env(ENV_SCHEMA)?,
        };
        let schema = SchemaName::new(schema.unwrap_or_else(|| DEFAULT_SCHEMA.to_owned()))?;
        let pool_max = match string.pool_max {
            Some(max) => max,
            None => pool_max_from_env()?.unwrap_or(POOL_MAX),
        };
        if !(1..=POOL_MAX_LIMIT).contains(&pool_max) {
            return Err(OptionsError::OutOfRange {
                name: "pool_max",
                value: pool_max.to_string(),
                expected: "1 to 30000",
            });
        }
        let pool_min_idle = string.pool_min.unwrap_or(POOL_MIN_IDLE.min(pool_max));
        if pool_min_idle > pool_max {
            return Err(OptionsError::OutOfRange {
                name: "pool_min_idle",
                value: pool_min_idle.to_string(),
                expected: "at most pool_max",
            });
        }
        let wait_for_work = match self.wait_for_work {
            Some(waits) => waits,
            None => wait_for_work_from_env()?.unwrap_or(true),
        };
        if let Some(bytes) = string.packet_size
            && !PACKET_SIZES.contains(&bytes)
        {
            return Err(OptionsError::OutOfRange {
                name: "packet_size",
                value: bytes.to_string(),
                expected: "512 to 32767",
            });
        }
        let connect_timeout = string.connect_timeout.unwrap_or(CONNECT_TIMEOUT);
        let acquire_timeout = self.acquire_timeout.unwrap_or(connect_timeout);
        let command_timeout = string.command_timeout.unwrap_or(COMMAND_TIMEOUT);
        let max_lifetime = string.max_lifetime.unwrap_or(MAX_LIFETIME);
        let idle_timeout = self.idle_timeout.unwrap_or(IDLE_TIMEOUT);
        check_durations(&[
            ("connect_timeout", connect_timeout),
            ("acquire_timeout", acquire_timeout),
            ("command_timeout", command_timeout),
            ("idle_timeout", idle_timeout),
            ("max_lifetime", max_lifetime),
        ])?;
        if let Polling::Long { repoll_min, .. } = self.polling {
            check_durations(&[("repoll_min", repoll_min)])?;
        }
        Ok(Options {
            host,
            port: string.port.unwrap_or(1433),
            // A variable that is not set leaves an empty one behind.
            database: string.database.filter(|name| !name.is_empty()),
            identity,
            encrypt: string.encrypt.unwrap_or_default(),
            trust_server_certificate,
            trust_ca_file: string.trust_ca_file,
            host_name_in_certificate: string.host_name_in_certificate,
            application_name: string
                .application_name
                .unwrap_or_else(|| concat!("duroxide-sql/", env!("CARGO_PKG_VERSION")).to_owned()),
            workstation_id: string.workstation_id,
            packet_size: string.packet_size,
            schema,
            pool_max,
            pool_min_idle,
            connect_timeout,
            acquire_timeout,
            command_timeout,
            startup_timeout: self.startup_timeout.unwrap_or(STARTUP_TIMEOUT),
            idle_timeout,
            max_lifetime,
            migration_policy: self.migration_policy,
            polling: self.polling,
            wait_for_work,
            history_cache_bytes: self.history_cache_bytes.unwrap_or(HISTORY_CACHE_BYTES),
            slow_call_limit: self.slow_call_limit.unwrap_or(SLOW_CALL_LIMIT),
            pool_wait_limit: self.pool_wait_limit.unwrap_or(POOL_WAIT_LIMIT),
            lookup: self.lookup,
        })
    }
}

/// Longer texts cannot be told to a server: Microsoft's drivers refuse them as well.
fn check_lengths(string: &ConnectionString) -> Result<(), OptionsError> {
    for (name, text) in [
        ("user", &string.user),
        ("password", &string.password),
        ("database", &string.database),
        ("application_name", &string.application_name),
        ("workstation_id", &string.workstation_id),
    ] {
        let units = text.as_ref().map_or(0, |text| text.encode_utf16().count());
        if units > LOGIN_UNITS_MAX {
            return Err(OptionsError::TooLong { name, units });
        }
    }
    Ok(())
}

fn pool_max_from_env() -> Result<Option<u32>, OptionsError> {
    env(ENV_POOL_MAX)?
        .map(|value| {
            value.parse().map_err(|_| OptionsError::Environment {
                name: ENV_POOL_MAX,
                expected: "a whole number",
            })
        })
        .transpose()
}

fn wait_for_work_from_env() -> Result<Option<bool>, OptionsError> {
    let parse = |value: String| match value.as_str() {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(OptionsError::Environment {
            name: ENV_WAIT_FOR_WORK,
            expected: "1, true, 0 or false",
        }),
    };
    env(ENV_WAIT_FOR_WORK)?.map(parse).transpose()
}

fn check_durations(durations: &[(&'static str, Duration)]) -> Result<(), OptionsError> {
    for (name, value) in durations {
        if value.is_zero() {
            return Err(OptionsError::OutOfRange {
                name,
                value: "zero".to_owned(),
                expected: "a duration above zero",
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Identity;
    use crate::options::Encrypt;

    const URL: &str = "server=tcp:db,1500;user id=app;password=hunter2;max pool size=7";

    #[test]
    fn builder_wins_over_connection_string_and_defaults() {
        let options = MssqlProviderBuilder::new(URL).resolve().unwrap();
        assert_eq!((options.pool_max, options.port), (7, 1500));
        assert_eq!(options.schema.as_str(), DEFAULT_SCHEMA);
        let options = MssqlProviderBuilder::new(URL)
            .pool_max(3)
            .schema("x")
            .resolve()
            .unwrap();
        assert_eq!(options.pool_max, 3);
        assert_eq!(options.schema.as_str(), "x");
    }

    #[test]
    fn nonsense_is_refused_before_anything_is_sent() {
        let refuse = |builder: MssqlProviderBuilder| builder.resolve().unwrap_err().to_string();
        for text in ["", "database=x", "sqlserver:///db"] {
            assert!(refuse(MssqlProviderBuilder::new(text)).contains("no server"));
        }
        assert!(refuse(MssqlProviderBuilder::new("server=h")).contains("no user name"));
        for text in ["server=h;uid=a", "server=h;uid=a;pwd=", "sqlserver://a@h"] {
            assert!(refuse(MssqlProviderBuilder::new(text)).contains("without a password"));
        }
        let both = MssqlProviderBuilder::new(format!("{URL};trustServerCertificate=yes"));
        assert!(refuse(both.trust_ca_file("ca.pem")).contains("certificate authority"));
        assert!(refuse(MssqlProviderBuilder::new(URL).pool_max(0)).contains("pool_max is 0"));
        assert!(refuse(MssqlProviderBuilder::new(URL).schema("")).contains("schema name is empty"));
        let zero = MssqlProviderBuilder::new(URL).command_timeout(Duration::ZERO);
        assert!(refuse(zero).contains("command_timeout is zero"));
    }

    /// A variable that is not set leaves nothing behind its option.
    #[test]
    fn empty_options_count_as_missing() {
        let text = "server=h;database=;user id=a;password=x";
        let options = MssqlProviderBuilder::new(text).resolve().unwrap();
        assert_eq!(options.database, None);
        let builder = MssqlProviderBuilder::new("server=h;user id=;password=x");
        assert_eq!(builder.resolve().unwrap_err(), OptionsError::MissingLogin);
    }

    /// A server closes the connection of a longer login without a word, or with one about the packet's structure.
    #[test]
    fn names_that_no_login_can_carry_are_refused() {
        type Setter = fn(MssqlProviderBuilder, String) -> MssqlProviderBuilder;
        let setters: [(&str, Setter); 5] = [
            ("user", |b, text| b.user(text)),
            ("password", |b, text| b.password(text)),
            ("database", |b, text| b.database(text)),
            ("application_name", |b, text| b.application_name(text)),
            ("workstation_id", |b, text| b.workstation_id(text)),
        ];
        for (name, set) in setters {
            let resolve = |text: String| set(MssqlProviderBuilder::new(URL), text).resolve();
            assert!(resolve("x".repeat(128)).is_ok(), "{name}");
            let error = resolve("\u{1f600}".repeat(65)).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("{name} has 130 UTF-16 units, a login carries 128; shorten it")
            );
        }
    }

    #[test]
    fn limits_that_leave_no_connection_are_refused() {
        let refuse = |builder: MssqlProviderBuilder| builder.resolve().unwrap_err().to_string();
        let at_once = MssqlProviderBuilder::new(URL).acquire_timeout(Duration::ZERO);
        assert!(refuse(at_once).contains("acquire_timeout is zero"));
        let crowd = MssqlProviderBuilder::new(URL).pool_min_idle(8);
        assert!(refuse(crowd).contains("pool_min_idle is 8, expected at most pool_max"));
        let alone = MssqlProviderBuilder::new(URL).pool_max(1).resolve();
        assert_eq!(alone.unwrap().pool_min_idle, 1);
    }

    #[test]
    fn debug_never_shows_the_password() {
        let builder = MssqlProviderBuilder::new(URL);
        assert!(!format!("{builder:?}").contains("hunter2"));
        assert!(!format!("{:?}", builder.resolve().unwrap()).contains("hunter2"));
    }

    /// Everything that a connection string can say and that has an effect can be set on the builder:
    /// the settings that come out are the same.
    #[test]
    fn builder_says_all_that_a_connection_string_says() {
        type Setter = fn(MssqlProviderBuilder) -> MssqlProviderBuilder;
        let pairs: &[(&str, &str, Setter)] = &[
            ("server", "other", |b| b.host("other")),
            ("port", "1500", |b| b.port(1500)),
            ("database", "orders", |b| b.database("orders")),
            ("user id", "mia", |b| b.user("mia")),
            ("password", "hunter3", |b| b.password("hunter3")),
            ("encrypt", "strict", |b| b.encrypt(Encrypt::Strict)),
            ("trustServerCertificate", "true", |b| {
                b.trust_server_certificate(true)
            }),
            ("trustServerCertificateCA", "ca.pem", |b| {
                b.trust_ca_file("ca.pem")
            }),
            ("hostNameInCertificate", "db.example", |b| {
                b.host_name_in_certificate("db.example")
            }),
            ("application name", "shop", |b| b.application_name("shop")),
            ("workstation id", "till-1", |b| b.workstation_id("till-1")),
            ("connect timeout", "7", |b| {
                b.connect_timeout(Duration::from_secs(7))
            }),
            ("command timeout", "8", |b| {
                b.command_timeout(Duration::from_secs(8))
            }),
            ("packet size", "8192", |b| b.packet_size(8192)),
            ("max pool size", "9", |b| b.pool_max(9)),
            ("min pool size", "3", |b| b.pool_min_idle(3)),
            ("load balance timeout", "60", |b| {
                b.max_lifetime(Duration::from_secs(60))
            }),
        ];
        let usual = [
            ("server", "db"),
            ("user id", "app"),
            ("password", "hunter2"),
        ];
        let string = |added: Option<(&str, &str)>| {
            let kept = usual
                .into_iter()
                .filter(|(key, _)| added.is_none_or(|(name, _)| name != *key));
            let parts = kept
                .chain(added)
                .map(|(key, value)| format!("{key}={value};"));
            MssqlProviderBuilder::new(parts.collect::<String>())
        };
        let shown = |builder: MssqlProviderBuilder| {
            let options = builder.resolve().unwrap();
            let password = match &options.identity {
                Identity::SqlLogin { password, .. } => password.clone(),
                other => panic!("{other:?}"),
            };
            (everything(&options), password)
        };
        let unset = shown(string(None));
        for (key, value, set) in pairs {
            let said = shown(string(Some((key, value))));
            assert_ne!(said, unset, "{key} has no effect");
            assert_eq!(shown(set(string(None))), said, "{key}");
        }
        // The rest of the document's options has no effect, or is refused.
        let document = include_str!("../../docs/connecting.md");
        for row in document.lines().filter(|line| line.starts_with("| `")) {
            let name = row.split('`').nth(1).unwrap();
            let has_setter = pairs.iter().any(|(key, _, _)| *key == name);
            let words = ["accepted", "refused"];
            let is_idle = words.iter().any(|word| row.contains(word));
            assert!(has_setter || is_idle, "{name} has no setter");
        }
    }

    fn everything(options: &Options) -> String {
        let Options {
            host_name_in_certificate,
            application_name,
            workstation_id,
            packet_size,
            pool_min_idle,
            connect_timeout,
            command_timeout,
            max_lifetime,
            ..
        } = options;
        format!(
            "{options:?} {host_name_in_certificate:?} {application_name} {workstation_id:?} \
             {packet_size:?} {pool_min_idle} {connect_timeout:?} {command_timeout:?} {max_lifetime:?}"
        )
    }

    #[test]
    fn server_may_be_named_by_the_builder_alone() {
        let builder = MssqlProviderBuilder::new("")
            .host("db")
            .user("app")
            .password("hunter2");
        let options = builder.resolve().unwrap();
        assert_eq!(options.server(), "db:1433");
        for host in ["", "db;password=hunter2", "tcp:db,1433"] {
            let builder = MssqlProviderBuilder::new("")
                .host(host)
                .user("app")
                .password("x");
            let error = builder.resolve().unwrap_err().to_string();
            assert!(error.contains("server"), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
