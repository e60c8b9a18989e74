//! Reads where the server is: `tcp:host,port` as ADO.NET writes it, `host:port` as URLs do.

use std::net::Ipv6Addr;

use super::OptionsError;
use super::key::Key;

const EXPECTED_HOST: &str =
    "a host name or an address, with the port after a comma: server=tcp:host,1433";
const EXPECTED_BARE_HOST: &str = "a host name or an address, without port and protocol";
const EXPECTED_URL_HOST: &str =
    "a host name or an address, with the port after a colon: sqlserver://host:1433/database";

/// A host, and a port if one was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: Option<u16>,
}

impl Address {
    /// `tcp:host,port`.
    pub(super) fn from_ado(text: &str) -> Result<Self, OptionsError> {
        let mut text = text.trim();
        if let Some((protocol, rest)) = text.split_once(':') {
            match protocol.trim().to_ascii_lowercase().as_str() {
                "tcp" => text = rest.trim(),
                "np" | "lpc" | "admin" => {
                    return Err(unsupported("only TCP works; write server=tcp:host,port"));
                }
                _ => {}
            }
        }
        let (host, port) = match text.split_once(',') {
            Some((host, port)) => (host.trim(), Some(port)),
            None => (text, None),
        };
        if host.contains('\\') {
            return Err(unsupported(
                "named instances are not looked up; write server=tcp:host,port with the \
                 instance's port",
            ));
        }
        let bare = match host.strip_prefix('[') {
            Some(rest) => rest
                .strip_suffix(']')
                .ok_or_else(|| invalid(EXPECTED_HOST))?,
            None => host,
        };
        Ok(Self {
            host: readable_host(bare).ok_or_else(|| invalid(EXPECTED_HOST))?,
            port: port.map(read_port).transpose()?,
        })
    }

    /// `host:port` or `[address]:port`, or nothing.
    pub(super) fn from_url(text: &str) -> Result<Self, OptionsError> {
        let refuse = || invalid(EXPECTED_URL_HOST);
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, after) = rest.split_once(']').ok_or_else(refuse)?;
                let port = match after.strip_prefix(':') {
                    Some(port) => Some(port),
                    None if after.is_empty() => None,
                    None => return Err(refuse()),
                };
                (host, port)
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        if host.contains('\\') {
            return Err(unsupported(
                "named instances are not looked up; write the instance's port",
            ));
        }
        Ok(Self {
            host: match host {
                "" => String::new(),
                host => readable_host(host).ok_or_else(refuse)?,
            },
            port: port.map(read_port).transpose()?,
        })
    }
}

/// A port from 1 on.
pub(super) fn read_port(text: &str) -> Result<u16, OptionsError> {
    let port = text.trim().parse().ok().filter(|port| *port != 0);
    port.ok_or(OptionsError::InvalidValue {
        key: Key::Port.name(),
        expected: "a number from 1 to 65535",
    })
}

/// The host that the builder names.
pub(super) fn check_host(host: &str) -> Result<String, OptionsError> {
    readable_host(host).ok_or_else(|| invalid(EXPECTED_BARE_HOST))
}

/// The host, if names and addresses are written so. Nothing else is ever looked up, because it
/// may be a part of a password.
fn readable_host(host: &str) -> Option<String> {
    if matches!(host, "." | "(local)") {
        return Some("localhost".to_owned());
    }
    // An address may name the interface behind a percent sign.
    let address = host.split('%').next().unwrap_or_default();
    let is_address = address.parse::<Ipv6Addr>().is_ok();
    let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let is_host = is_address || (!host.is_empty() && host.chars().all(is_name));
    is_host.then(|| host.to_owned())
}

fn invalid(expected: &'static str) -> OptionsError {
    OptionsError::InvalidValue {
        key: Key::Server.name(),
        expected,
    }
}

fn unsupported(hint: &'static str) -> OptionsError {
    OptionsError::Unsupported {
        key: Key::Server.name(),
        hint,
    }
}
