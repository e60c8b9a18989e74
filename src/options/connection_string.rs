//! Reads ADO.NET and URL connection strings into one form, refusing what it does not know.

use std::path::PathBuf;
use std::time::Duration;

use super::OptionsError;
use super::address::{Address, read_port};
use super::ado;
use super::azure::{self, Azure};
use super::key::Key;
use super::url::{Url, holds_password};

/// How the traffic is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encrypt {
    /// Everything is encrypted; a server that cannot is refused.
    #[default]
    Required,
    /// TLS comes before the first TDS byte (TDS 8.0; SQL Server 2022 and Azure SQL).
    Strict,
    /// Only the login is encrypted. For servers on this machine or a trusted network.
    LoginOnly,
    /// Nothing is encrypted, the password neither. For servers in this process.
    Plaintext,
}

/// What a connection string, or the builder in its place, says. `Debug` is not implemented: it holds a
/// password.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct ConnectionString {
    /// Empty when none is named.
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    pub(crate) database: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    /// The identity of Azure that logs in, if one does.
    pub(crate) azure: Option<Azure>,
    pub(crate) encrypt: Option<Encrypt>,
    pub(crate) trust_server_certificate: Option<bool>,
    pub(crate) trust_ca_file: Option<PathBuf>,
    pub(crate) host_name_in_certificate: Option<String>,
    pub(crate) application_name: Option<String>,
    pub(crate) workstation_id: Option<String>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) command_timeout: Option<Duration>,
    pub(crate) max_lifetime: Option<Duration>,
    pub(crate) packet_size: Option<u32>,
    pub(crate) pool_max: Option<u32>,
    pub(crate) pool_min: Option<u32>,
}

impl ConnectionString {
    /// Reads either form; a text with `://` in it is a URL. Whether a server is named is for the caller
    /// to check, because the builder may name it.
    pub(crate) fn parse(text: &str) -> Result<Self, OptionsError> {
        let mut parsed = Self::default();
        let text = text.trim();
        let begins_with = |word: &str| {
            text.get(..word.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(word))
        };
        if begins_with("jdbc:") {
            return Err(OptionsError::Jdbc);
        }
        let is_scheme = |scheme: &str| scheme.chars().all(|c| c.is_ascii_alphanumeric());
        match text.split_once("://") {
            Some((scheme, rest)) if is_scheme(scheme) => parsed.read_url(scheme, rest)?,
            _ => parsed.read_pairs(&ado::split(text)?, &mut Vec::new())?,
        }
        Ok(parsed)
    }

    /// The same, where `other` does not say otherwise.
    pub(crate) fn under(self, other: Self) -> Self {
        Self {
            host: if other.host.is_empty() {
                self.host
            } else {
                other.host
            },
            port: other.port.or(self.port),
            database: other.database.or(self.database),
            user: other.user.or(self.user),
            password: other.password.or(self.password),
            azure: other.azure.or(self.azure),
            encrypt: other.encrypt.or(self.encrypt),
            trust_server_certificate: other
                .trust_server_certificate
                .or(self.trust_server_certificate),
            trust_ca_file: other.trust_ca_file.or(self.trust_ca_file),
            host_name_in_certificate: other
                .host_name_in_certificate
                .or(self.host_name_in_certificate),
            application_name: other.application_name.or(self.application_name),
            workstation_id: other.workstation_id.or(self.workstation_id),
            connect_timeout: other.connect_timeout.or(self.connect_timeout),
            command_timeout: other.command_timeout.or(self.command_timeout),
            max_lifetime: other.max_lifetime.or(self.max_lifetime),
            packet_size: other.packet_size.or(self.packet_size),
            pool_max: other.pool_max.or(self.pool_max),
            pool_min: other.pool_min.or(self.pool_min),
        }
    }

    fn read_url(&mut self, scheme: &str, rest: &str) -> Result<(), OptionsError> {
        let url = Url::parse(scheme, rest)?;
        let mut seen = Vec::new();
        let Address { host, port } = Address::from_url(&url.host_port)?;
        if !host.is_empty() {
            seen.push(Key::Server);
        }
        if port.is_some() {
            seen.push(Key::Port);
        }
        (self.host, self.port) = (host, port);
        let parts = [
            (Key::Database, url.database),
            (Key::User, url.user),
            (Key::Password, url.password),
        ];
        for (key, value) in parts {
            if let Some(value) = value {
                seen.push(key);
                self.set(key, &value)?;
            }
        }
        self.read_pairs(&url.pairs, &mut seen)
    }

    fn read_pairs(
        &mut self,
        pairs: &[(String, String)],
        seen: &mut Vec<Key>,
    ) -> Result<(), OptionsError> {
        for (at, (name, value)) in pairs.iter().enumerate() {
            let key = Key::find(name).ok_or_else(|| OptionsError::UnknownOption {
                position: at + 1,
                similar: Key::similar_to(name),
            })?;
            if seen.contains(&key) {
                return Err(OptionsError::Repeated(key.name()));
            }
            seen.push(key);
            let had_port = self.port.is_some();
            self.set(key, value)?;
            // A server may come with its port, and the option may come before it or after it.
            if key == Key::Server && self.port.is_some() && !had_port {
                seen.push(Key::Port);
            }
        }
        Ok(())
    }

    /// One option; the keys are ADO.NET's, with its usual synonyms.
    fn set(&mut self, key: Key, value: &str) -> Result<(), OptionsError> {
        if key != Key::Password && holds_password(value) {
            return Err(OptionsError::PasswordInside(key.name()));
        }
        let text = || Some(value.to_owned());
        match key {
            Key::Server => {
                let Address { host, port } = Address::from_ado(value)?;
                if port.is_some() && self.port.is_some() {
                    return Err(OptionsError::Repeated(Key::Port.name()));
                }
                self.host = host;
                self.port = port.or(self.port);
            }
            Key::Port => self.port = Some(read_port(value)?),
            Key::Database => self.database = text(),
            Key::User => self.user = text(),
            Key::Password => self.password = text(),
            Key::Authentication => self.azure = azure::authentication(value)?,
            Key::Encrypt => self.encrypt = Some(encrypt(value)?),
            Key::TrustServerCertificate => {
                self.trust_server_certificate = Some(flag(key, value)?);
            }
            Key::TrustServerCertificateCa => self.trust_ca_file = Some(value.into()),
            Key::HostNameInCertificate => self.host_name_in_certificate = text(),
            Key::ApplicationName => self.application_name = text(),
            Key::WorkstationId => self.workstation_id = text(),
            Key::ConnectTimeout => self.connect_timeout = seconds(key, value)?,
            Key::CommandTimeout => self.command_timeout = seconds(key, value)?,
            Key::LoadBalanceTimeout => self.max_lifetime = seconds(key, value)?,
            Key::PacketSize => {
                self.packet_size = Some(number_in(
                    key,
                    value,
                    512..=32_767,
                    "a number from 512 to 32767",
                )?);
            }
            Key::MaxPoolSize => self.pool_max = Some(number(key, value)?),
            Key::MinPoolSize => self.pool_min = Some(number(key, value)?),
            other => check_foreign(other, value)?,
        }
        Ok(())
    }
}

/// Options that change nothing here: harmless where they ask for what is done anyway, refused
/// where they ask for something else.
fn check_foreign(key: Key, value: &str) -> Result<(), OptionsError> {
    let is = |word: &str| value.trim().eq_ignore_ascii_case(word);
    let refused = match key {
        // All addresses of a name are always tried at once.
        Key::MultiSubnetFailover => flag(key, value).map(|_| None)?,
        // Calls are repeated for as long as their lease or budget lasts.
        Key::ConnectRetryCount => {
            number_in(key, value, 0..=255, "a number from 0 to 255").map(|_| None)?
        }
        Key::ConnectRetryInterval => {
            number_in(key, value, 1..=60, "a number from 1 to 60").map(|_| None)?
        }
        // The password is never given out again, and no transaction is ever distributed.
        Key::PersistSecurityInfo | Key::Enlist => flag(key, value).map(|_| None)?,
        Key::ApplicationIntent if is("readwrite") => None,
        Key::ApplicationIntent if is("readonly") => Some("the provider writes; remove it"),
        Key::ApplicationIntent => return Err(invalid(key, "ReadWrite")),
        Key::IntegratedSecurity if !is("sspi") && !flag(key, value)? => None,
        Key::IntegratedSecurity => Some("use a SQL login, or a token source for Entra ID"),
        Key::MultipleActiveResultSets => {
            flag(key, value)?.then_some("the provider uses one request per connection; remove it")
        }
        Key::Pooling => {
            (!flag(key, value)?).then_some("the provider always pools; set max pool size instead")
        }
        Key::ColumnEncryptionSetting if is("disabled") => None,
        Key::ColumnEncryptionSetting => {
            Some("encrypted columns cannot be searched; leave the provider's tables as they are")
        }
        Key::NetworkLibrary if is("dbmssocn") => None,
        Key::NetworkLibrary => Some("only TCP works; remove it"),
        Key::UserInstance if !flag(key, value)? => None,
        Key::UserInstance | Key::AttachDbFileName => {
            Some("only databases that the server has opened can be used; write database=…")
        }
        Key::FailoverPartner => Some(
            "database mirroring is not followed; name the listener of an availability group, or \
             the failover group's host",
        ),
        Key::ServerCertificate => Some(
            "a single certificate cannot be pinned; name its authority with \
             trustServerCertificateCA=file",
        ),
        Key::CurrentLanguage => Some("the provider reads no text of the server; remove it"),
        Key::Driver | Key::Dsn => Some(
            "this is an ODBC string; leave it out and write server=tcp:host,1433;database=…;\
             user id=…;password=…",
        ),
        Key::Provider => Some(
            "this is an OLE DB string; leave it out and write server=tcp:host,1433;database=…;\
             user id=…;password=…",
        ),
        Key::Server
        | Key::Port
        | Key::Database
        | Key::User
        | Key::Password
        | Key::Authentication
        | Key::Encrypt
        | Key::TrustServerCertificate
        | Key::TrustServerCertificateCa
        | Key::HostNameInCertificate
        | Key::ApplicationName
        | Key::WorkstationId
        | Key::ConnectTimeout
        | Key::CommandTimeout
        | Key::PacketSize
        | Key::MaxPoolSize
        | Key::MinPoolSize
        | Key::LoadBalanceTimeout => None,
    };
    match refused {
        Some(hint) => Err(OptionsError::Unsupported {
            key: key.name(),
            hint,
        }),
        None => Ok(()),
    }
}

fn invalid(key: Key, expected: &'static str) -> OptionsError {
    OptionsError::InvalidValue {
        key: key.name(),
        expected,
    }
}

fn flag(key: Key, value: &str) -> Result<bool, OptionsError> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(invalid(key, "true or false")),
    }
}

fn encrypt(value: &str) -> Result<Encrypt, OptionsError> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "mandatory" => Ok(Encrypt::Required),
        "strict" => Ok(Encrypt::Strict),
        "false" | "no" | "optional" => Ok(Encrypt::LoginOnly),
        "danger_plaintext" => Ok(Encrypt::Plaintext),
        _ => Err(invalid(Key::Encrypt, "true, strict or false")),
    }
}

fn number(key: Key, value: &str) -> Result<u32, OptionsError> {
    let number = value.trim().parse();
    number.map_err(|_| invalid(key, "a whole number"))
}

fn number_in(
    key: Key,
    value: &str,
    range: std::ops::RangeInclusive<u32>,
    expected: &'static str,
) -> Result<u32, OptionsError> {
    let number = value.trim().parse().ok();
    number
        .filter(|number| range.contains(number))
        .ok_or_else(|| invalid(key, expected))
}

/// Zero means "no limit" in ADO.NET; we keep our default then, because waiting for ever would
/// hold a dispatcher for ever.
fn seconds(key: Key, value: &str) -> Result<Option<Duration>, OptionsError> {
    let seconds = number(key, value)?;
    Ok((seconds > 0).then(|| Duration::from_secs(u64::from(seconds))))
}

#[cfg(test)]
#[path = "connection_string_tests.rs"]
mod tests;
