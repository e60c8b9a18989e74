//! PRELOGIN: versions, and what shall be encrypted.

use super::read::{Reader, ended_early};
use super::write::Put;
use crate::error::SqlResult;
use crate::tls::Encryption;

/// The version shown to clients: SQL Server 2022, whose language level the engine follows.
pub(crate) const SERVER_VERSION: (u8, u8, u16) = (15, 0, 2000);

const VERSION: u8 = 0x00;
const ENCRYPTION: u8 = 0x01;
const INSTANCE: u8 = 0x02;
const THREAD_ID: u8 = 0x03;
const MARS: u8 = 0x04;
const FEDERATED: u8 = 0x06;
const TERMINATOR: u8 = 0xFF;

const ENCRYPT_OFF: u8 = 0x00;
const ENCRYPT_ON: u8 = 0x01;
const ENCRYPT_NOT_SUPPORTED: u8 = 0x02;
const ENCRYPT_REQUIRED: u8 = 0x03;

/// What both sides agreed to encrypt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Negotiated {
    /// Nothing.
    Plain,
    /// The login only, to protect the password.
    LoginOnly,
    /// Everything from the login on.
    Everything,
    /// The server insists on TLS and the client cannot: the connection ends after the answer.
    Refused,
}

/// The parts of a client's PRELOGIN that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prelogin {
    encryption: u8,
    asks_federated: bool,
}

impl Prelogin {
    /// Reads the option table of a PRELOGIN message.
    pub(crate) fn parse(message: &[u8]) -> SqlResult<Self> {
        let mut table = Reader::new(message);
        let mut found = Self {
            encryption: ENCRYPT_NOT_SUPPORTED,
            asks_federated: false,
        };
        loop {
            let option = table.u8()?;
            if option == TERMINATOR {
                return Ok(found);
            }
            let offset = usize::from(table.u16()?.swap_bytes());
            let length = usize::from(table.u16()?.swap_bytes());
            let data = message
                .get(offset..)
                .and_then(|rest| rest.get(..length))
                .ok_or_else(ended_early)?;
            match option {
                // The high bit only announces a client certificate, which is never asked for.
                ENCRYPTION => found.encryption = data.first().ok_or_else(ended_early)? & 0x7F,
                FEDERATED => found.asks_federated = true,
                _ => {}
            }
        }
    }

    /// What is encrypted, and the byte that tells the client so.
    fn negotiate(self, policy: Encryption) -> (Negotiated, u8) {
        match (self.encryption, policy) {
            (_, Encryption::Off) => (Negotiated::Plain, ENCRYPT_NOT_SUPPORTED),
            (ENCRYPT_NOT_SUPPORTED, Encryption::Required) => {
                (Negotiated::Refused, ENCRYPT_REQUIRED)
            }
            (ENCRYPT_NOT_SUPPORTED, Encryption::Offered) => {
                (Negotiated::Plain, ENCRYPT_NOT_SUPPORTED)
            }
            (ENCRYPT_OFF, Encryption::Required) => (Negotiated::Everything, ENCRYPT_REQUIRED),
            (ENCRYPT_OFF, Encryption::Offered) => (Negotiated::LoginOnly, ENCRYPT_OFF),
            _ => (Negotiated::Everything, ENCRYPT_ON),
        }
    }

    /// Whether the client offered to log in by token, and was told to say so again.
    pub(crate) fn asks_federated(self) -> bool {
        self.asks_federated
    }

    /// The server's answer, appended to `out`, and what is encrypted from here on.
    pub(crate) fn answer(self, policy: Encryption, out: &mut Vec<u8>) -> Negotiated {
        let (negotiated, encryption) = self.negotiate(policy);
        let (major, minor, build) = SERVER_VERSION;
        let [build_high, build_low] = build.to_be_bytes();
        let version = [major, minor, build_high, build_low, 0, 0];
        let mut options: Vec<(u8, &[u8])> = vec![
            (VERSION, &version),
            (ENCRYPTION, std::slice::from_ref(&encryption)),
            (INSTANCE, &[0]),
            (THREAD_ID, &[]),
            (MARS, &[0]),
        ];
        if self.asks_federated {
            options.push((FEDERATED, &[1]));
        }
        let mut offset = options.len() * 5 + 1;
        for (option, data) in &options {
            out.put_u8(*option);
            out.put_u16((offset as u16).swap_bytes());
            out.put_u16((data.len() as u16).swap_bytes());
            offset += data.len();
        }
        out.put_u8(TERMINATOR);
        for (_, data) in &options {
            out.extend_from_slice(data);
        }
        negotiated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(encryption: u8) -> Prelogin {
        let message = [VERSION, 0, 11, 0, 6, ENCRYPTION, 0, 17, 0, 1, TERMINATOR]
            .into_iter()
            .chain([0, 0, 0, 0, 0, 0, encryption])
            .collect::<Vec<u8>>();
        Prelogin::parse(&message).unwrap()
    }

    /// The table of MS-TDS: who wants what, and what comes of it.
    #[test]
    fn encryption_is_negotiated_as_sql_server_does() {
        use Encryption::{Off, Offered, Required};
        for (wish, policy, outcome) in [
            (ENCRYPT_OFF, Off, (Negotiated::Plain, ENCRYPT_NOT_SUPPORTED)),
            (ENCRYPT_OFF, Offered, (Negotiated::LoginOnly, ENCRYPT_OFF)),
            (
                ENCRYPT_OFF,
                Required,
                (Negotiated::Everything, ENCRYPT_REQUIRED),
            ),
            (ENCRYPT_ON, Offered, (Negotiated::Everything, ENCRYPT_ON)),
            (ENCRYPT_ON, Required, (Negotiated::Everything, ENCRYPT_ON)),
            (
                ENCRYPT_NOT_SUPPORTED,
                Offered,
                (Negotiated::Plain, ENCRYPT_NOT_SUPPORTED),
            ),
            (
                ENCRYPT_NOT_SUPPORTED,
                Required,
                (Negotiated::Refused, ENCRYPT_REQUIRED),
            ),
            (
                ENCRYPT_REQUIRED,
                Offered,
                (Negotiated::Everything, ENCRYPT_ON),
            ),
        ] {
            assert_eq!(client(wish).negotiate(policy), outcome, "{wish} {policy:?}");
        }
    }

    /// Our answer is itself a well-formed PRELOGIN.
    #[test]
    fn answer_can_be_read_as_prelogin() {
        let mut out = Vec::new();
        client(ENCRYPT_ON).answer(Encryption::Offered, &mut out);
        assert_eq!(Prelogin::parse(&out).unwrap(), client(ENCRYPT_ON));
    }

    /// An option that points outside the message is refused.
    #[test]
    fn offsets_past_the_end_are_refused() {
        assert!(Prelogin::parse(&[ENCRYPTION, 0, 200, 0, 1, TERMINATOR]).is_err());
        assert!(Prelogin::parse(&[ENCRYPTION, 0, 6, 0, 0, TERMINATOR]).is_err());
        assert!(Prelogin::parse(&[]).is_err());
    }
}
