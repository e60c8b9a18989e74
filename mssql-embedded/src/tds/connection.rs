//! One client from its first byte to its last.

use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::backend::{Backend, BackendSession};
use super::link::{Link, LinkError, MessageHead};
use super::login7::Login;
use super::packet::{DEFAULT_PACKET_SIZE, Outgoing, PacketKind, granted_size};
use super::prelogin::{Negotiated, Prelogin};
use super::request::{batch_text, transaction};
use super::response::Response;
use super::rpc::RpcCalls;
use super::token;
use super::version::Version;
use crate::error::{SqlError, SqlResult};
use crate::interrupt::Interrupt;
use crate::session::{
    DoneKind, EnvChange, LoginAck, RequestEnd, ResultSink, database_changed, language_changed,
    login_failed,
};
use crate::tls::{Encryption, TlsConfigs};

/// What the wire must know of its server.
#[derive(Clone)]
pub(crate) struct Settings {
    /// What is demanded of clients.
    pub(crate) encryption: Encryption,
    /// The server's certificate at work.
    pub(crate) tls: TlsConfigs,
}

/// A client has this long for each step up to its login.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(15);
/// The number of "Cannot open database".
const CANNOT_OPEN_DATABASE: i32 = 4060;
/// The longest message before the login: nobody has said who they are yet.
const LOGIN_BYTES: usize = 128 * 1024;
/// The longest request. One client must not be able to exhaust the memory of its host.
const REQUEST_BYTES: usize = 256 * 1024 * 1024;
/// A request buffer larger than this is given back after the request.
const KEEP_BYTES: usize = 1 << 20;

/// Serves a client until it leaves, or until it or the engine breaks the connection.
pub(crate) fn serve<B: Backend>(
    tcp: TcpStream,
    backend: &B,
    settings: &Settings,
    stopping: Arc<AtomicBool>,
) -> Result<(), LinkError> {
    let mut link = Link::new(tcp)?;
    link.set_read_timeout(Some(LOGIN_TIMEOUT))?;
    let mut message = Vec::new();
    let Some(login) = handshake(&mut link, settings, &mut message)? else {
        return Ok(());
    };
    link.set_read_timeout(None)?;
    let version = login.as_ref().map_or(Version::V74, |login| login.version);
    let mut response = Response::new(link, version, stopping);
    let user = login.as_ref().ok().map(|login| login.request.user.clone());
    let session = login.and_then(|login| log_in(backend, &login, &mut response));
    match session {
        Ok(mut session) => {
            session.attach(response.kill_switch()?);
            response.finish()?;
            Connection {
                response,
                session,
                version,
            }
            .serve(message)
        }
        Err(error) => {
            response.refuse(&error, DoneKind::Statement);
            // A database that cannot be opened is told before the failure of the login itself.
            if error.number == CANNOT_OPEN_DATABASE
                && let Some(user) = user
            {
                response.refuse_also(&login_failed(&user));
            }
            response.finish()?;
            Ok(())
        }
    }
}

/// Everything up to LOGIN7. `None` when the client was told that it cannot come in.
fn handshake(
    link: &mut Link,
    settings: &Settings,
    message: &mut Vec<u8>,
) -> Result<Option<SqlResult<Login>>, LinkError> {
    let strict = settings.encryption != Encryption::Off && link.begins_with_tls()?;
    if strict {
        link.start_tls(&settings.tls.strict)?;
    }
    let mut head = link.read_message(message, LOGIN_BYTES)?;
    let mut asked_for_token = false;
    if head.kind == PacketKind::Prelogin {
        let prelogin = Prelogin::parse(message)
            .map_err(|_| LinkError::Protocol("a PRELOGIN that points outside itself"))?;
        asked_for_token = prelogin.asks_federated();
        let mut out = Outgoing::new();
        let negotiated = prelogin.answer(settings.encryption, out.tokens());
        link.finish(PacketKind::Response, &mut out)?;
        match negotiated {
            _ if strict => {}
            Negotiated::Plain => {}
            Negotiated::LoginOnly => link.start_wrapped_tls(&settings.tls.wrapped, true)?,
            Negotiated::Everything => link.start_wrapped_tls(&settings.tls.wrapped, false)?,
            Negotiated::Refused => return Ok(None),
        }
        head = link.read_message(message, LOGIN_BYTES)?;
    } else if settings.encryption == Encryption::Required && !strict {
        return Err(LinkError::Protocol(
            "a login without PRELOGIN while TLS is required",
        ));
    }
    if head.kind != PacketKind::Login {
        return Err(LinkError::Protocol("no LOGIN7 where one is due"));
    }
    let login = Login::parse(message).and_then(|login| login.check_echo(asked_for_token));
    link.end_login();
    Ok(Some(login))
}

/// Opens the session and writes the answer to its login.
fn log_in<B: Backend>(
    backend: &B,
    login: &Login,
    response: &mut Response,
) -> SqlResult<B::Session> {
    let (session, ack) = backend.login(&login.request)?;
    let LoginAck {
        database,
        spid,
        collation,
    } = ack;
    response.link.spid = spid;
    let granted = granted_size(login.packet_size);
    // The encoding of a token cannot fail before anything is sent.
    let old_database = if database == "master" { "" } else { "master" };
    let out = response.tokens();
    let change = EnvChange::Database(database.clone(), old_database.into());
    token::put_env_change(&change, out);
    token::put_message(&database_changed(&database), login.version, out);
    token::put_collation(collation, out);
    let language = EnvChange::Language("us_english".into(), String::new());
    token::put_env_change(&language, out);
    token::put_message(&language_changed(), login.version, out);
    token::put_login_ack(login.version, out);
    token::put_packet_size(granted, DEFAULT_PACKET_SIZE, out);
    token::put_feature_acks(login.utf8_support, login.federated_echo.is_some(), out);
    response.link.packet_size = granted;
    Ok(session)
}

/// A client that has logged in.
struct Connection<S> {
    response: Response,
    session: S,
    version: Version,
}

impl<S: BackendSession> Connection<S> {
    fn serve(&mut self, mut message: Vec<u8>) -> Result<(), LinkError> {
        loop {
            let head = match self.response.link.read_message(&mut message, REQUEST_BYTES) {
                Ok(head) => head,
                Err(LinkError::Closed) => return Ok(()),
                Err(error) => {
                    self.say_goodbye(&error);
                    return Err(error);
                }
            };
            self.response.begin(message.len());
            let end = self.request(head, &message);
            message.clear();
            message.shrink_to(KEEP_BYTES);
            match end {
                RequestEnd::Continue => self.response.finish()?,
                RequestEnd::Attention => {
                    self.response.note_attention();
                    self.response.finish()?;
                }
                RequestEnd::Close => {
                    // A connection that was cut must not deliver what it had ready; one that ends
                    // with a reason must.
                    if self.response.is_fatal() {
                        self.response.finish()?;
                    }
                    return Ok(());
                }
            }
            // What its client has sent meanwhile is nobody's request any more.
            if self.response.is_fatal() || self.response.is_killed() {
                return Ok(());
            }
        }
    }

    /// Tells a client whose message made no sense why the connection ends. It may not be listening,
    /// so a failure to tell is no news.
    fn say_goodbye(&mut self, error: &LinkError) {
        if matches!(error, LinkError::Protocol(_) | LinkError::TooLong(_)) {
            let text = format!("The connection is closed: {error}.");
            self.response
                .refuse(&SqlError::with(17_836, 20, 1, text), DoneKind::Statement);
            let _ = self.response.finish();
        }
    }

    fn request(&mut self, head: MessageHead, message: &[u8]) -> RequestEnd {
        if head.kind == PacketKind::Attention {
            self.response.note_attention();
            return RequestEnd::Continue;
        }
        if head.ignored {
            // The client gave up while sending: a DONE with the error bit, and no message.
            let done = crate::session::Done {
                kind: DoneKind::Statement,
                rows: None,
                error: true,
                command: 0,
            };
            return match self.response.done(done) {
                Ok(()) => RequestEnd::Continue,
                Err(_) => RequestEnd::Close,
            };
        }
        if head.reset {
            match self
                .session
                .reset(head.keep_transaction, &mut self.response)
            {
                RequestEnd::Continue => {}
                other @ (RequestEnd::Attention | RequestEnd::Close) => return other,
            }
        }
        match head.kind {
            PacketKind::Batch => self.batch(message),
            PacketKind::Rpc => self.calls(message),
            PacketKind::Transaction => match transaction(message, self.version) {
                Ok(request) => self.session.transaction(request, &mut self.response),
                Err(error) => self.refuse(&error, DoneKind::Statement),
            },
            other @ (PacketKind::OldLogin
            | PacketKind::Response
            | PacketKind::Attention
            | PacketKind::BulkLoad
            | PacketKind::FederatedToken
            | PacketKind::Login
            | PacketKind::Sspi
            | PacketKind::Prelogin) => {
                let error = SqlError::unsupported(format!("a message of kind {other:?}"));
                self.refuse(&error, DoneKind::Statement)
            }
        }
    }

    fn refuse(&mut self, error: &SqlError, kind: DoneKind) -> RequestEnd {
        self.response.refuse(error, kind);
        RequestEnd::Continue
    }

    fn batch(&mut self, message: &[u8]) -> RequestEnd {
        match batch_text(message, self.version) {
            Ok(text) => self.session.batch(&text, &mut self.response),
            Err(error) => self.refuse(&error, DoneKind::Statement),
        }
    }

    /// Runs the calls of a message in order. An error in one does not keep the next from running,
    /// but a call that cannot be read ends the message: nobody knows where the next one begins.
    fn calls(&mut self, message: &[u8]) -> RequestEnd {
        let mut calls = match RpcCalls::new(message, self.version) {
            Ok(calls) => calls,
            Err(error) => return self.refuse(&error, DoneKind::Procedure),
        };
        loop {
            let call = match calls.next() {
                Ok(Some(call)) => call,
                Ok(None) => return RequestEnd::Continue,
                Err(error) => return self.refuse(&error, DoneKind::Procedure),
            };
            match self.session.rpc(call, &mut self.response) {
                RequestEnd::Continue => {}
                other @ (RequestEnd::Attention | RequestEnd::Close) => return other,
            }
            // A message can hold millions of calls that end before they ask.
            match self.response.interrupted() {
                None => {}
                Some(Interrupt::Attention) => return RequestEnd::Attention,
                Some(Interrupt::Disconnected) => return RequestEnd::Close,
            }
        }
    }
}
