//! Reads ADO.NET and URL connection strings into one form, refusing what it does not know.

use std::time::Duration;

use super::OptionsError;

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

/// A connection string, taken apart. `Debug` is not implemented: it holds a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct ConnectionString {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    pub(crate) database: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) encrypt: Encrypt,
    pub(crate) trust_server_certificate: bool,
    pub(crate) host_name_in_certificate: Option<String>,
    pub(crate) application_name: Option<String>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) command_timeout: Option<Duration>,
    pub(crate) packet_size: Option<u32>,
    pub(crate) pool_max: Option<u32>,
    pub(crate) pool_min: Option<u32>,
}

impl ConnectionString {
    /// Reads either form; a text with `://` in it is a URL.
    pub(crate) fn parse(text: &str) -> Result<Self, OptionsError> {
        let mut parsed = Self::default();
        let text = text.trim();
        if text.is_empty() {
            return Err(OptionsError::MissingServer);
        }
        match text.split_once("://") {
            Some((scheme, rest)) if scheme.chars().all(|c| c.is_ascii_alphanumeric()) => {
                parsed.read_url(scheme, rest)?;
            }
            _ => {
                for (key, value) in split_pairs(text)? {
                    parsed.set(&key, &value)?;
                }
            }
        }
        if parsed.host.is_empty() {
            return Err(OptionsError::MissingServer);
        }
        Ok(parsed)
    }

    fn read_url(&mut self, scheme: &str, rest: &str) -> Result<(), OptionsError> {
        if !["sqlserver", "mssql"].contains(&scheme.to_ascii_lowercase().as_str()) {
            return Err(OptionsError::Scheme(scheme.to_owned()));
        }
        let (before_query, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = before_query.split_once('/').unwrap_or((before_query, ""));
        // A password may itself contain '@' when somebody forgot to encode it.
        let host_port = match authority.rsplit_once('@') {
            Some((credentials, host_port)) => {
                let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
                self.user = Some(percent_decode("user", user)?);
                self.password = Some(percent_decode("password", password)?);
                host_port
            }
            None => authority,
        };
        self.read_host_port(host_port)?;
        if !path.is_empty() {
            self.database = Some(percent_decode("database", path.trim_end_matches('/'))?);
        }
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            self.set(
                &percent_decode("option", key)?,
                &percent_decode(key, value)?,
            )?;
        }
        Ok(())
    }

    fn read_host_port(&mut self, text: &str) -> Result<(), OptionsError> {
        if let Some(rest) = text.strip_prefix('[') {
            let (host, port) = rest.split_once(']').ok_or_else(|| {
                invalid(
                    "server",
                    text,
                    "an IPv6 address in brackets, such as [::1]:1433",
                )
            })?;
            self.host = host.to_owned();
            return match port.strip_prefix(':') {
                Some(port) => self.set_port(port),
                None => Ok(()),
            };
        }
        match text.split_once(':') {
            Some((host, port)) => {
                self.host = percent_decode("server", host)?;
                self.set_port(port)
            }
            None => {
                self.host = percent_decode("server", text)?;
                Ok(())
            }
        }
    }

    fn set_port(&mut self, text: &str) -> Result<(), OptionsError> {
        let port = text.trim().parse().ok().filter(|port| *port != 0);
        self.port = Some(port.ok_or_else(|| invalid("port", text, "a number from 1 to 65535"))?);
        Ok(())
    }

    /// `tcp:host,port` as ADO.NET writes it.
    fn set_server(&mut self, value: &str) -> Result<(), OptionsError> {
        let value = value.strip_prefix("tcp:").unwrap_or(value);
        if value.starts_with("np:") || value.starts_with("lpc:") {
            return Err(OptionsError::Unsupported {
                key: "server".to_owned(),
                hint: "only TCP works; write server=tcp:host,port",
            });
        }
        if value.contains('\\') {
            return Err(OptionsError::Unsupported {
                key: "server".to_owned(),
                hint: "named instances are not looked up; write server=tcp:host,port with the \
                       instance's port",
            });
        }
        let (host, port) = match value.split_once(',') {
            Some((host, port)) => (host.trim(), Some(port)),
            None => (value.trim(), None),
        };
        self.host = match host {
            "." | "(local)" => "localhost".to_owned(),
            other => other
                .trim_start_matches('[')
                .trim_end_matches(']')
                .to_owned(),
        };
        port.map_or(Ok(()), |port| self.set_port(port))
    }

    /// One option; the keys are ADO.NET's, with its usual synonyms, in any case and spacing.
    fn set(&mut self, key: &str, value: &str) -> Result<(), OptionsError> {
        let folded: String = key
            .chars()
            .filter(|c| !c.is_whitespace())
            .flat_map(char::to_lowercase)
            .collect();
        match folded.as_str() {
            "server" | "datasource" | "address" | "addr" | "networkaddress" => {
                self.set_server(value)?;
            }
            "port" => self.set_port(value)?,
            "database" | "initialcatalog" => self.database = Some(value.to_owned()),
            "userid" | "uid" | "user" | "username" => self.user = Some(value.to_owned()),
            "password" | "pwd" => self.password = Some(value.to_owned()),
            "encrypt" => self.encrypt = encrypt(value)?,
            "trustservercertificate" => self.trust_server_certificate = flag(key, value)?,
            "hostnameincertificate" => self.host_name_in_certificate = Some(value.to_owned()),
            "applicationname" | "app" => self.application_name = Some(value.to_owned()),
            "connecttimeout" | "connectiontimeout" | "timeout" => {
                self.connect_timeout = seconds(key, value)?;
            }
            "commandtimeout" => self.command_timeout = seconds(key, value)?,
            "packetsize" => {
                let size = number(key, value)?;
                if !(512..=32_767).contains(&size) {
                    return Err(invalid(key, value, "a number from 512 to 32767"));
                }
                self.packet_size = Some(size);
            }
            "maxpoolsize" => self.pool_max = Some(number(key, value)?),
            "minpoolsize" => self.pool_min = Some(number(key, value)?),
            // Without effect here: the password is never given out again.
            "persistsecurityinfo" => {
                flag(key, value)?;
            }
            _ => self.refuse_or_ignore(key, &folded, value)?,
        }
        Ok(())
    }

    /// Options of other drivers: harmless in the form that asks for what we do anyway.
    fn refuse_or_ignore(&self, key: &str, folded: &str, value: &str) -> Result<(), OptionsError> {
        let unsupported = |hint| {
            Err(OptionsError::Unsupported {
                key: key.trim().to_owned(),
                hint,
            })
        };
        match folded {
            "multipleactiveresultsets" if flag(key, value)? => {
                unsupported("the provider uses one request per connection; remove it")
            }
            "multisubnetfailover" if flag(key, value)? => {
                unsupported("addresses are tried one after the other; remove it")
            }
            "integratedsecurity" | "trusted_connection"
                if value.eq_ignore_ascii_case("sspi") || flag(key, value)? =>
            {
                unsupported("use a SQL login, or a token source for Entra ID")
            }
            "authentication" if !value.eq_ignore_ascii_case("sqlpassword") => {
                unsupported("for Entra ID leave it out and give the builder a token source")
            }
            "applicationintent" if !value.eq_ignore_ascii_case("readwrite") => {
                unsupported("the provider writes; remove it")
            }
            "pooling" if !flag(key, value)? => {
                unsupported("the provider always pools; set pool_max instead")
            }
            "multipleactiveresultsets"
            | "multisubnetfailover"
            | "integratedsecurity"
            | "trusted_connection"
            | "authentication"
            | "applicationintent"
            | "pooling" => Ok(()),
            _ => Err(OptionsError::UnknownKey(key.trim().to_owned())),
        }
    }
}

/// Splits `key=value;…`. Values may be in single or double quotes (doubled inside) or braces.
fn split_pairs(text: &str) -> Result<Vec<(String, String)>, OptionsError> {
    let mut pairs = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c == ';' || c.is_whitespace());
        if rest.is_empty() {
            return Ok(pairs);
        }
        // The text itself is not shown: a misplaced separator may leave a password in it.
        let (key, after) = rest.split_once('=').ok_or(OptionsError::NotKeyValue)?;
        if key.contains(';') {
            return Err(OptionsError::NotKeyValue);
        }
        let (value, remaining) = take_value(key, after.trim_start())?;
        pairs.push((key.trim().to_owned(), value));
        rest = remaining;
    }
}

fn take_value<'a>(key: &str, text: &'a str) -> Result<(String, &'a str), OptionsError> {
    let Some(open) = text.chars().next().filter(|c| "'\"{".contains(*c)) else {
        let end = text.find(';').unwrap_or(text.len());
        return Ok((text[..end].trim_end().to_owned(), &text[end..]));
    };
    let close = if open == '{' { '}' } else { open };
    let mut value = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != close {
            value.push(c);
        } else if matches!(chars.peek(), Some((_, next)) if *next == close) {
            chars.next();
            value.push(close);
        } else {
            let rest = text[at + c.len_utf8()..].trim_start();
            if rest.is_empty() || rest.starts_with(';') {
                return Ok((value, rest));
            }
            break;
        }
    }
    Err(OptionsError::Quote {
        key: key.trim().to_owned(),
        quote: open,
    })
}

fn percent_decode(what: &str, text: &str) -> Result<String, OptionsError> {
    let refuse = || OptionsError::Percent(what.to_owned());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        if *first != b'%' {
            bytes.push(*first);
            rest = tail;
            continue;
        }
        let hex = tail
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .ok_or_else(refuse)?;
        bytes.push(u8::from_str_radix(hex, 16).map_err(|_| refuse())?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| refuse())
}

fn invalid(key: &str, value: &str, expected: &'static str) -> OptionsError {
    OptionsError::InvalidValue {
        key: key.trim().to_owned(),
        value: value.trim().to_owned(),
        expected,
    }
}

fn flag(key: &str, value: &str) -> Result<bool, OptionsError> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(invalid(key, value, "true or false")),
    }
}

fn encrypt(value: &str) -> Result<Encrypt, OptionsError> {
    match value.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "mandatory" => Ok(Encrypt::Required),
        "strict" => Ok(Encrypt::Strict),
        "false" | "no" | "optional" => Ok(Encrypt::LoginOnly),
        "danger_plaintext" => Ok(Encrypt::Plaintext),
        _ => Err(invalid("encrypt", value, "true, strict or false")),
    }
}

fn number(key: &str, value: &str) -> Result<u32, OptionsError> {
    value
        .trim()
        .parse()
        .map_err(|_| invalid(key, value, "a whole number"))
}

/// Zero means "no limit" in ADO.NET; we keep our default then, because waiting for ever would
/// hold a dispatcher for ever.
fn seconds(key: &str, value: &str) -> Result<Option<Duration>, OptionsError> {
    let seconds = number(key, value)?;
    Ok((seconds > 0).then(|| Duration::from_secs(u64::from(seconds))))
}

#[cfg(test)]
#[path = "connection_string_tests.rs"]
mod tests;
