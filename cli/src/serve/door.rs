//! Who may ask, and what browsers may do with the answers.
//!
//! The page has no cookies. A site that makes a browser ask on its behalf cannot read answers, since
//! no answer allows that, and cannot change anything: changes need a header that only a page of the
//! same origin can send, and the origin is compared where the browser tells it. A site whose name
//! resolves to this address (DNS rebinding) would be of the same origin, so the name in Host must be
//! one that nobody else can have.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use subtle::ConstantTimeEq as _;

use super::api;

/// Short tokens can be guessed.
const TOKEN_BYTES_MIN: usize = 16;
/// Only scripts of the same origin can send it without being asked first.
const CHANGE_HEADER: &str = "x-duroxide-sql";

/// Nothing from elsewhere, nothing inline, and no text becomes markup.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// What whoever asks must know. It is never shown.
pub struct Token(String);

impl Token {
    /// Surrounding white space does not belong to it: files end with a line feed.
    ///
    /// # Errors
    ///
    /// When it is so short that it could be guessed.
    pub fn new(text: &str) -> anyhow::Result<Self> {
        let text = text.trim();
        anyhow::ensure!(
            text.len() >= TOKEN_BYTES_MIN,
            "the page's token is too short; use {TOKEN_BYTES_MIN} characters or more"
        );
        Ok(Self(text.to_owned()))
    }

    fn is(&self, given: &str) -> bool {
        self.0.as_bytes().ct_eq(given.as_bytes()).into()
    }
}

/// The rules.
pub struct Door {
    pub token: Option<Token>,
    pub host_names: Vec<String>,
    pub allow_changes: bool,
}

type Refusal = (StatusCode, &'static str);

impl Door {
    /// Why a request is not answered, if it is not.
    fn refusal(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<Refusal> {
        let host = text(headers, header::HOST.as_str()).unwrap_or_default();
        if !self.knows(host) {
            let why = "the page does not go by this name; --host-name allows another";
            return Some((StatusCode::MISDIRECTED_REQUEST, why));
        }
        if path.starts_with("/api/") && !self.admits(headers) {
            return Some((StatusCode::UNAUTHORIZED, "the page's token is needed"));
        }
        if method == Method::GET || method == Method::HEAD {
            return None;
        }
        if !self.allow_changes {
            let why = "the page only shows; --allow-changes lets it change things";
            return Some((StatusCode::FORBIDDEN, why));
        }
        let is_own = is_same_origin(host, headers) && headers.contains_key(CHANGE_HEADER);
        let why = "changes are made from the page itself";
        (!is_own).then_some((StatusCode::FORBIDDEN, why))
    }

    /// Addresses and localhost are nobody's names.
    fn knows(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        let is_listed = |listed: &String| listed.eq_ignore_ascii_case(name);
        name.eq_ignore_ascii_case("localhost")
            || name.parse::<IpAddr>().is_ok()
            || (!name.is_empty() && self.host_names.iter().any(is_listed))
    }

    fn admits(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let given = text(headers, header::AUTHORIZATION.as_str());
        let given = given.and_then(|value| value.strip_prefix("Bearer "));
        given.is_some_and(|given| token.is(given))
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Whether the browser says that a page of this origin asks; what is no browser says nothing.
fn is_same_origin(host: &str, headers: &HeaderMap) -> bool {
    let site = text(headers, "sec-fetch-site");
    let origin = headers.get(header::ORIGIN).map(HeaderValue::as_bytes);
    let is_own = |origin: &[u8]| {
        let own = ["http", "https"].map(|scheme| format!("{scheme}://{host}"));
        own.iter()
            .any(|own| own.as_bytes().eq_ignore_ascii_case(origin))
    };
    site.is_none_or(|site| site == "same-origin") && origin.is_none_or(is_own)
}

/// Stands before every route.
pub async fn guard(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let refusal = door.refusal(request.method(), request.uri().path(), request.headers());
    let mut response = match refusal {
        Some((status, why)) => api::refused(status, why),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", CONTENT_POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| {
                (
                    (*name).parse().expect("a name"),
                    HeaderValue::from_static(value),
                )
            })
            .collect()
    }

    fn status(door: &Door, method: Method, pairs: &[(&'static str, &'static str)]) -> u16 {
        let refusal = door.refusal(&method, "/api/cancel", &headers(pairs));
        refusal.map_or(200, |(status, _)| status.as_u16())
    }

    fn open_door() -> Door {
        Door {
            token: None,
            host_names: vec!["ops.example".into()],
            allow_changes: true,
        }
    }

    #[test]
    fn only_names_that_nobody_else_can_have_are_answered() {
        for (host, expected) in [
            ("127.0.0.1:8732", 200),
            ("localhost:8732", 200),
            ("[::1]:8732", 200),
            ("OPS.example", 200),
            ("evil.example:8732", 421),
            ("127.0.0.1.evil.example", 421),
            ("localhost.evil.example", 421),
            ("", 421),
            ("[", 421),
        ] {
            assert_eq!(
                status(&open_door(), Method::GET, &[("host", host)]),
                expected,
                "{host}"
            );
        }
        assert_eq!(status(&open_door(), Method::GET, &[]), 421);
    }

    #[test]
    fn the_token_must_be_exactly_known() {
        let door = Door {
            token: Some(Token::new("correct horse battery\n").expect("long enough")),
            ..open_door()
        };
        let asked = |value| {
            status(
                &door,
                Method::GET,
                &[("host", "localhost"), ("authorization", value)],
            )
        };
        assert_eq!(asked("Bearer correct horse battery"), 200);
        for wrong in [
            "",
            "Bearer ",
            "Bearer correct horse batter",
            "correct horse battery",
        ] {
            assert_eq!(asked(wrong), 401, "{wrong}");
        }
        assert_eq!(status(&door, Method::GET, &[("host", "localhost")]), 401);
        assert!(Token::new("short").is_err());
    }

    #[test]
    fn changes_come_from_the_page_itself() {
        let host = ("host", "127.0.0.1:8732");
        let own = (CHANGE_HEADER, "page");
        let door = open_door();
        let post = |pairs: &[_]| status(&door, Method::POST, pairs);
        assert_eq!(post(&[host, own]), 200);
        assert_eq!(post(&[host, own, ("origin", "http://127.0.0.1:8732")]), 200);
        assert_eq!(post(&[host]), 403);
        assert_eq!(post(&[host, own, ("origin", "http://127.0.0.1:9999")]), 403);
        assert_eq!(post(&[host, own, ("origin", "null")]), 403);
        assert_eq!(post(&[host, own, ("sec-fetch-site", "cross-site")]), 403);
        assert_eq!(post(&[host, own, ("sec-fetch-site", "same-origin")]), 200);
        let closed = Door {
            allow_changes: false,
            ..open_door()
        };
        assert_eq!(status(&closed, Method::POST, &[host, own]), 403);
        assert_eq!(status(&closed, Method::GET, &[host]), 200);
    }
}
