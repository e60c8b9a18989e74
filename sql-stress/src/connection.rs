//! Leads a connection string through the proxy.

use anyhow::{Context as _, Result, bail};

const DEFAULT_PORT: u16 = 1433;

/// The server that a connection string names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

/// Finds the server in an ADO.NET connection string or URL.
///
/// # Errors
///
/// When the string names none.
pub fn server(url: &str) -> Result<Server> {
    Ok(split(url)?.1)
}

/// The same connection string, with another server. The certificate is still checked against the
/// name of the real one.
///
/// # Errors
///
/// When the string names no server.
pub fn through(url: &str, port: u16) -> Result<String> {
    led_to(url, "127.0.0.1", port)
}

/// As [`through`], with a server of any name.
///
/// # Errors
///
/// When the string names no server.
pub fn led_to(url: &str, host: &str, port: u16) -> Result<String> {
    let (parts, real) = split(url)?;
    let has_name = url.to_ascii_lowercase().contains("hostnameincertificate");
    let name = if has_name {
        String::new()
    } else {
        format!("hostNameInCertificate={}", real.host)
    };
    let joined = |separator: &str| {
        if name.is_empty() {
            String::new()
        } else {
            format!("{separator}{name}")
        }
    };
    Ok(match parts {
        Parts::Url { before, after } => {
            let separator = if after.contains('?') { "&" } else { "?" };
            format!("{before}{host}:{port}{after}{}", joined(separator))
        }
        Parts::Pairs(pairs) => {
            format!(
                "server=tcp:{host},{port};{}{}",
                pairs.join(";"),
                joined(";")
            )
        }
    })
}

enum Parts {
    Url { before: String, after: String },
    Pairs(Vec<String>),
}

fn split(url: &str) -> Result<(Parts, Server)> {
    // As the library reads it: a password may hold `://` as well.
    let is_scheme = |scheme: &str| scheme.chars().all(|c| c.is_ascii_alphanumeric());
    if let Some((scheme, rest)) = url.trim().split_once("://")
        && is_scheme(scheme)
    {
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, after) = rest.split_at(end);
        let at = authority.rfind('@').map_or(0, |at| at + 1);
        let (credentials, host) = authority.split_at(at);
        let server = host_port(host, ':')?;
        let before = format!("{scheme}://{credentials}");
        let after = after.to_owned();
        return Ok((Parts::Url { before, after }, server));
    }
    let mut pairs = pairs(url);
    let is_server = |pair: &String| {
        let key = pair.split('=').next().unwrap_or_default();
        let key = key.to_ascii_lowercase().replace(char::is_whitespace, "");
        ["server", "datasource", "address", "addr", "networkaddress"].contains(&key.as_str())
    };
    let at = pairs.iter().position(is_server);
    let at = at.context("connection string has no server; write server=tcp:host,port")?;
    let pair = pairs.remove(at);
    let value = pair.split_once('=').map_or("", |(_, value)| value.trim());
    let value = value.trim_matches(['"', '\'', '{', '}']);
    let server = match value.split_once(':') {
        Some((protocol, rest)) if protocol.trim().eq_ignore_ascii_case("tcp") => rest.trim(),
        _ => value,
    };
    let server = host_port(server, ',')?;
    Ok((Parts::Pairs(pairs), server))
}

fn host_port(text: &str, separator: char) -> Result<Server> {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port) = match bracketed {
        Some((host, port)) => (host, port.strip_prefix(separator)),
        None => match text.split_once(separator) {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) => port
            .trim()
            .parse()
            .context("the server's port is not a number")?,
    };
    let host = match host.trim() {
        "" => bail!("connection string has no server; write server=tcp:host,port"),
        "." | "(local)" => "localhost",
        host => host,
    };
    Ok(Server {
        host: host.to_owned(),
        port,
    })
}

/// Splits at semicolons that are not inside a quoted value.
fn pairs(text: &str) -> Vec<String> {
    let mut pairs = vec![String::new()];
    let mut closing = None;
    for c in text.chars() {
        match (closing, c) {
            (None, ';') => {
                pairs.push(String::new());
                continue;
            }
            (None, '"' | '\'' | '{') if pairs.last().is_some_and(|p| p.ends_with('=')) => {
                closing = Some(if c == '{' { '}' } else { c });
            }
            (Some(close), c) if c == close => closing = None,
            _ => {}
        }
        if let Some(pair) = pairs.last_mut() {
            pair.push(c);
        }
    }
    pairs.retain(|pair| !pair.trim().is_empty());
    pairs
}

/// Whether an argument may be a connection string, which somebody has put in the wrong place.
#[must_use]
pub fn may_hold_password(argument: &str) -> bool {
    argument.contains('=') || argument.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_is_found_in_both_forms() {
        let cases = [
            ("server=tcp:db.example,1500;user id=a", "db.example", 1500),
            ("User Id=a;Data Source=h", "h", 1433),
            ("password=\"a;server=no\";server=(local)", "localhost", 1433),
            ("sqlserver://sa:p@w@h:99/db?encrypt=true", "h", 99),
            ("sqlserver://h", "h", 1433),
            ("mssql://a:b@[::1]:7", "::1", 7),
            ("server=TCP: h,7;password=x", "h", 7),
            ("server=h,7;password=a://b.example/c@d", "h", 7),
            ("password='://b';server=h", "h", 1433),
        ];
        for (url, host, port) in cases {
            let found = server(url).unwrap();
            assert_eq!((found.host.as_str(), found.port), (host, port), "{url}");
        }
        assert!(server("user id=a").is_err());
        assert!(server("server=h,x").is_err());
    }

    #[test]
    fn proxy_takes_the_servers_place_and_nothing_else() {
        assert_eq!(
            through("user id=a;server=h,1;password='x;y'", 5).unwrap(),
            "server=tcp:127.0.0.1,5;user id=a;password='x;y';hostNameInCertificate=h"
        );
        assert_eq!(
            through("sqlserver://a:b@h:1/db?encrypt=true", 5).unwrap(),
            "sqlserver://a:b@127.0.0.1:5/db?encrypt=true&hostNameInCertificate=h"
        );
        assert_eq!(
            through("server=h,1;password=x://y", 5).unwrap(),
            "server=tcp:127.0.0.1,5;password=x://y;hostNameInCertificate=h"
        );
        let named = through("server=h;hostNameInCertificate=n", 5).unwrap();
        assert_eq!(named, "server=tcp:127.0.0.1,5;hostNameInCertificate=n");
    }
}
