//! LOGIN7: who the client is and what it can do.

use super::read::{Reader, utf16_text};
use super::version::Version;
use crate::error::{SqlError, SqlResult};
use crate::refused::{Kind, refused};
use crate::session::LoginRequest;

/// OptionFlags2: the client asks for ODBC defaults.
#[cfg(test)]
const ODBC: u8 = 0x02;
/// OptionFlags1: big-endian integers, EBCDIC text, or floating-point numbers other than IEEE's.
const FOREIGN_FORMATS: u8 = 0x0F;
/// OptionFlags2: the login is that of a server, of a distributed query or of replication.
const SERVER_LOGIN: u8 = 0x70;
/// OptionFlags2: the client wants Windows authentication.
const INTEGRATED_SECURITY: u8 = 0x80;
/// OptionFlags3: the client wants to change its password while logging in.
const CHANGE_PASSWORD: u8 = 0x01;
/// OptionFlags3: the client wants an instance of its own.
const USER_INSTANCE: u8 = 0x04;
/// OptionFlags3: the extension block holds feature extensions.
const EXTENSION: u8 = 0x10;

/// Feature extension: UTF-8 collations are understood.
pub(crate) const FEATURE_UTF8: u8 = 0x0A;
/// Feature extension: authentication by token.
pub(crate) const FEATURE_FEDERATED: u8 = 0x02;
/// bFedAuthLibrary: the client brings the token along.
const LIBRARY_SECURITY_TOKEN: u8 = 0x01;
const FEATURE_END: u8 = 0xFF;

/// A parsed LOGIN7.
#[derive(Clone, Debug)]
pub(crate) struct Login {
    /// The protocol both sides speak from here on.
    pub(crate) version: Version,
    /// The packet size the client wishes for.
    pub(crate) packet_size: u32,
    /// Whether the client understands UTF-8 collations and wants to be told the same.
    pub(crate) utf8_support: bool,
    /// Whether the client repeats that it was asked for a token in PRELOGIN; `None` when it
    /// logs in without one.
    pub(crate) federated_echo: Option<bool>,
    /// What the session gets.
    pub(crate) request: LoginRequest,
}

impl Login {
    /// Reads a LOGIN7 message.
    pub(crate) fn parse(message: &[u8]) -> SqlResult<Self> {
        let mut fixed = Reader::new(message);
        let length = fixed.u32()? as usize;
        let message = message.get(..length).ok_or_else(invalid)?;
        let version = Version::from_login(fixed.u32()?).ok_or_else(too_old)?;
        let packet_size = fixed.u32()?;
        let _program_version_pid_connection = fixed.bytes(12)?;
        let flags1 = fixed.u8()?;
        let flags2 = fixed.u8()?;
        let _type_flags = fixed.u8()?;
        let flags3 = fixed.u8()?;
        let _time_zone_and_locale = fixed.bytes(8)?;
        check_flags(flags1, flags2, flags3)?;
        let mut field = |units: usize| -> SqlResult<&[u8]> {
            let offset = usize::from(fixed.u16()?);
            let length = usize::from(fixed.u16()?);
            if units == 2 && length > NAME_UNITS {
                return Err(invalid());
            }
            let length = length * units;
            if length == 0 {
                return Ok(&[]);
            }
            message
                .get(offset..)
                .and_then(|rest| rest.get(..length))
                .ok_or_else(invalid)
        };
        let host_name = utf16_text(field(2)?);
        let user = utf16_text(field(2)?);
        let password = unscramble(field(2)?);
        let app_name = utf16_text(field(2)?);
        let _server_name = field(2)?;
        let extension = field(1)?;
        let _library_name = field(2)?;
        check_language(&utf16_text(field(2)?))?;
        let database = utf16_text(field(2)?);
        let _client_id = fixed.bytes(6)?;
        let _sspi = fixed.bytes(4)?;
        let _attach_offset = fixed.u16()?;
        if fixed.u16()? > 0 {
            return Err(refused(Kind::Client, "attaching a database file"));
        }
        let features = match flags3 & EXTENSION {
            0 => Features::default(),
            _ => Features::parse(message, extension)?,
        };
        let federated_echo = features.federated.as_ref().map(|token| token.echo);
        let request = LoginRequest {
            user,
            password,
            token: features.federated.map(|token| token.text),
            // The wire has an empty name for the default.
            database: (!database.is_empty()).then_some(database),
            app_name,
            host_name,
        };
        Ok(Self {
            version,
            packet_size,
            utf8_support: features.utf8,
            federated_echo,
            request,
        })
    }
}

impl Login {
    /// A token is accepted from a client that repeats what PRELOGIN told it, and from no other:
    /// somebody in between may have changed the answer.
    pub(crate) fn check_echo(self, asked_for_token: bool) -> SqlResult<Self> {
        match self.federated_echo {
            Some(echo) if echo != asked_for_token => Err(invalid()),
            _ => Ok(self),
        }
    }
}

/// How long names and passwords may be: HOST_NAME and APP_NAME are NVARCHAR(128).
const NAME_UNITS: usize = 128;

/// Refuses what a login may ask for and the engine does not do.
fn check_flags(flags1: u8, flags2: u8, flags3: u8) -> SqlResult<()> {
    if flags2 & INTEGRATED_SECURITY != 0 {
        return Err(untrusted());
    }
    let flags = [
        (
            flags1 & FOREIGN_FORMATS,
            "a client of another byte order or character set",
        ),
        (
            flags2 & SERVER_LOGIN,
            "a login of another server or of replication",
        ),
        (
            flags3 & CHANGE_PASSWORD,
            "changing a password while logging in",
        ),
        (flags3 & USER_INSTANCE, "a user instance"),
    ];
    match flags.iter().find(|(asked, _)| *asked != 0) {
        Some((_, what)) => Err(refused(Kind::Client, what)),
        None => Ok(()),
    }
}

/// There are messages and date formats of one language only.
fn check_language(name: &str) -> SqlResult<()> {
    let known = ["", "us_english", "English"];
    if known.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    Err(SqlError::unsupported(format!("the login language {name}")))
}

#[derive(Default)]
struct Features {
    utf8: bool,
    federated: Option<Token>,
}

/// The FEDAUTH feature: an access token, and what the client makes of PRELOGIN's answer.
struct Token {
    echo: bool,
    text: String,
}

impl Token {
    /// Options, then the token's bytes with their length. A nonce may follow, which is only
    /// sent to servers that gave one.
    fn parse(data: &[u8]) -> SqlResult<Self> {
        let mut data = Reader::new(data);
        let options = data.u8()?;
        if options >> 1 != LIBRARY_SECURITY_TOKEN {
            return Err(refused(
                Kind::Client,
                "a login for which the server names the token's issuer",
            ));
        }
        let length = data.u32()? as usize;
        Ok(Self {
            echo: options & 1 != 0,
            text: utf16_text(data.bytes(length)?),
        })
    }
}

impl Features {
    /// Reads the list whose offset the extension block holds. Features the server does not
    /// acknowledge stay off in the client, so unknown ones may be passed over.
    fn parse(message: &[u8], extension: &[u8]) -> SqlResult<Self> {
        let offset = Reader::new(extension).u32()? as usize;
        let mut list = Reader::new(message.get(offset..).ok_or_else(invalid)?);
        let mut found = Self::default();
        loop {
            let feature = list.u8()?;
            if feature == FEATURE_END {
                return Ok(found);
            }
            let length = list.u32()? as usize;
            let data = list.bytes(length)?;
            match feature {
                FEATURE_UTF8 => found.utf8 = true,
                FEATURE_FEDERATED => found.federated = Some(Token::parse(data)?),
                _ => {}
            }
        }
    }
}

/// Undoes the obfuscation of a password: each byte has its halves swapped, then is XORed.
fn unscramble(bytes: &[u8]) -> String {
    let plain: Vec<u8> = bytes.iter().map(|b| (b ^ 0xA5).rotate_left(4)).collect();
    utf16_text(&plain)
}

fn invalid() -> SqlError {
    SqlError::with(
        17832,
        20,
        1,
        "The login packet used to open the connection is structurally invalid; \
         the connection has been closed.",
    )
}

fn too_old() -> SqlError {
    SqlError::with(
        17803,
        20,
        1,
        "The client speaks a version of TDS older than 7.1; use a newer client library.",
    )
}

fn untrusted() -> SqlError {
    SqlError::with(
        18452,
        14,
        1,
        "Login failed. The login is from an untrusted domain and cannot be used with \
         Integrated authentication.",
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tds::write::Put;

    /// A LOGIN7 message as clients build it.
    pub(crate) fn message(version: u32, user: &str, password: &str, packet_size: u32) -> Vec<u8> {
        let scrambled: Vec<u8> = password
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .map(|b| b.rotate_left(4) ^ 0xA5)
            .collect();
        let plain = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let units = user.encode_utf16().count() + password.encode_utf16().count() + 14;
        let features = 94 + 2 * units + 4;
        let fields: [Vec<u8>; 9] = [
            plain("host"),
            plain(user),
            scrambled,
            plain("app"),
            plain("srv"),
            (features as u32).to_le_bytes().to_vec(),
            plain("lib"),
            Vec::new(),
            plain("d"),
        ];
        let mut out = Vec::new();
        out.put_u32(0);
        out.put_u32(version);
        out.put_u32(packet_size);
        out.extend_from_slice(&[0; 12]);
        out.extend_from_slice(&[0xE0, ODBC, 0, EXTENSION]);
        out.extend_from_slice(&[0; 8]);
        let mut offset = 94;
        for (at, field) in fields.iter().enumerate() {
            out.put_u16(offset);
            out.put_u16(if at == 5 { 4 } else { field.len() as u16 / 2 });
            offset += field.len() as u16;
        }
        out.resize(94, 0);
        fields.iter().for_each(|field| out.extend_from_slice(field));
        assert_eq!(out.len(), features);
        out.extend_from_slice(&[FEATURE_UTF8, 0, 0, 0, 0, FEATURE_END]);
        let length = out.len() as u32;
        out[..4].copy_from_slice(&length.to_le_bytes());
        out
    }

    /// Every field arrives, the password unscrambled.
    #[test]
    fn login_fields_are_read() {
        let login = Login::parse(&message(0x7400_0004, "sa", "Pä$$w😀", 8000)).unwrap();
        assert_eq!((login.version, login.packet_size), (Version::V74, 8000));
        assert!(login.utf8_support);
        let request = login.request;
        assert_eq!((&*request.user, &*request.password), ("sa", "Pä$$w😀"));
        assert_eq!((&*request.host_name, &*request.app_name), ("host", "app"));
        assert_eq!(request.database.as_deref(), Some("d"));
    }

    /// A token comes as a feature, with the echo of PRELOGIN's answer in the lowest bit.
    #[test]
    fn tokens_are_read() {
        let with = |data: &[u8]| {
            let mut login = message(0x7400_0004, "", "", 0);
            assert_eq!(login.pop(), Some(FEATURE_END));
            login.put_u8(FEATURE_FEDERATED);
            login.put_u32(data.len() as u32);
            login.extend_from_slice(data);
            login.put_u8(FEATURE_END);
            let length = login.len() as u32;
            login[..4].copy_from_slice(&length.to_le_bytes());
            Login::parse(&login)
        };
        let login = with(&[0x03, 4, 0, 0, 0, b'e', 0, b'y', 0]).unwrap();
        assert_eq!(login.request.token.as_deref(), Some("ey"));
        assert_eq!(login.federated_echo, Some(true));
        let login = with(&[0x02, 2, 0, 0, 0, b'e', 0]).unwrap();
        assert_eq!(login.federated_echo, Some(false));
        assert!(with(&[0x02, 9, 0, 0, 0, b'e', 0]).is_err());
        assert!(with(&[]).is_err());
        let library = with(&[0x04, 1]).unwrap_err();
        assert!(library.is_unsupported(), "{library}");
        assert!(library.message.contains("issuer"), "{}", library.message);
    }

    /// What cannot be served is refused by name, and cut messages are no login.
    #[test]
    fn impossible_logins_are_refused() {
        assert_eq!(
            Login::parse(&message(0x7000_0000, "a", "b", 0))
                .unwrap_err()
                .number,
            17803
        );
        let good = message(0x7400_0004, "sa", "pw", 0);
        for end in 0..good.len() {
            assert!(Login::parse(&good[..end]).is_err());
        }
        let mut windows = good.clone();
        windows[25] |= INTEGRATED_SECURITY;
        assert_eq!(Login::parse(&windows).unwrap_err().number, 18452);
        for (at, flag, what) in [
            (24, 0x01, "byte order"),
            (25, 0x30, "replication"),
            (27, CHANGE_PASSWORD, "password"),
            (27, USER_INSTANCE, "user instance"),
            (84, 1, "database file"),
        ] {
            let mut asking = good.clone();
            asking[at] |= flag;
            let refused = Login::parse(&asking).unwrap_err();
            assert!(refused.is_unsupported(), "{refused}");
            assert!(refused.message.contains(what), "{}", refused.message);
        }
        let long = message(0x7400_0004, &"u".repeat(129), "b", 0);
        assert_eq!(Login::parse(&long).unwrap_err().number, 17832);
        assert!(check_language("us_english").is_ok());
        assert!(
            check_language("Deutsch")
                .unwrap_err()
                .message
                .contains("Deutsch")
        );
    }
}
