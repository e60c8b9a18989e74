//! The wire: the server's side of TDS 7.1 to 7.4, from packets to the requests of a session.
//!
//! [`listener`] accepts sockets and gives each its own thread, [`connection`] drives one client
//! from PRELOGIN to the end, [`link`] moves packets (through TLS or not), and [`response`] turns
//! what the interpreter reports into tokens. The rest reads or writes one structure each.

mod backend;
mod collation;
mod connection;
mod engine_backend;
mod link;
mod listener;
mod login7;
mod packet;
mod prelogin;
mod read;
mod request;
mod response;
mod rpc;
mod token;
mod type_in;
mod type_legacy;
mod type_out;
mod version;
mod write;

#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod test_backend;
#[cfg(test)]
mod wire_tests;

pub(crate) use connection::Settings;
pub(crate) use listener::Listener;
