//! Takes the URL form apart: `sqlserver://user:password@host:port/database?key=value&…`.

use super::OptionsError;

/// Schemes of other databases and drivers, which may be named in an error.
const FOREIGN: &[&str] = &[
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "sqlite",
    "oracle",
    "mongodb",
    "redis",
    "http",
    "https",
    "odbc",
    "tcp",
];

/// The parts, decoded.
#[derive(Default)]
pub(super) struct Url {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    /// Host and port as written, but for the escapes.
    pub(super) host_port: String,
    pub(super) database: Option<String>,
    pub(super) pairs: Vec<(String, String)>,
}

impl Url {
    /// Reads what follows `scheme://`.
    pub(super) fn parse(scheme: &str, rest: &str) -> Result<Self, OptionsError> {
        let scheme = scheme.to_ascii_lowercase();
        if !["sqlserver", "mssql"].contains(&scheme.as_str()) {
            let foreign = FOREIGN.iter().find(|name| **name == scheme);
            return Err(foreign.map_or(OptionsError::UnknownScheme, |name| {
                OptionsError::Scheme(name)
            }));
        }
        if rest.contains(';') && holds_password(rest) {
            return Err(OptionsError::Jdbc);
        }
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, after) = rest.split_at(end);
        // What was taken for the host is then the beginning of a password that is not escaped.
        if after.contains('@') {
            return Err(OptionsError::Unescaped);
        }
        let (path, query) = after.split_once('?').unwrap_or((after, ""));
        let mut url = Self::default();
        let host_port = match authority.rsplit_once('@') {
            Some((credentials, host_port)) => {
                let (user, password) = match credentials.split_once(':') {
                    Some((user, password)) => (user, Some(password)),
                    None => (credentials, None),
                };
                url.user = Some(decode("user name", user)?);
                url.password = password
                    .map(|password| decode("password", password))
                    .transpose()?;
                host_port
            }
            None => authority,
        };
        url.host_port = decode("server", host_port)?;
        let database = decode("database", path.trim_matches('/'))?;
        url.database = Some(database).filter(|database| !database.is_empty());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            url.pairs
                .push((decode("option", key)?, decode("option", value)?));
        }
        Ok(url)
    }
}

/// Whether the text has a `password=` in it, which belongs into an option of its own.
pub(super) fn holds_password(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["password", "pwd"].iter().any(|word| {
        text.match_indices(word).any(|(at, _)| {
            let after = text[at + word.len()..].trim_start();
            after.starts_with('=') || after.starts_with(':')
        })
    })
}

/// Decodes `%xx`. `part` names what is decoded, for the error.
fn decode(part: &'static str, text: &str) -> Result<String, OptionsError> {
    let refuse = || OptionsError::Percent(part);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let digit = |at: usize| tail.get(at).and_then(|c| char::from(*c).to_digit(16));
        let (Some(high), Some(low)) = (digit(0), digit(1)) else {
            return Err(refuse());
        };
        bytes.push((high * 16 + low) as u8);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| refuse())
}
