//! TLS for the wire: a certificate made at start and what is demanded of clients.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, SupportedProtocolVersion};

/// How a server treats encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encryption {
    /// No TLS at all, not even for the password.
    Off,
    /// As a SQL Server does by default: the login is always encrypted when the client can, the rest
    /// when the client asks.
    #[default]
    Offered,
    /// Everything is encrypted; clients that cannot are turned away.
    Required,
}

/// The two ways in which TLS is spoken, sharing one certificate.
#[derive(Clone)]
pub(crate) struct TlsConfigs {
    /// TDS 7.x: the handshake travels inside PRELOGIN packets.
    ///
    /// It is TLS 1.2 only: under 1.3 the server sends session tickets after the handshake, which
    /// would hit a client that leaves TLS after its login in the middle of a plain packet.
    pub(crate) wrapped: Arc<ServerConfig>,
    /// TDS 8.0: TLS first, TDS within.
    pub(crate) strict: Arc<ServerConfig>,
    /// The certificate, for clients that want to trust it.
    pub(crate) certificate_der: Vec<u8>,
}

impl TlsConfigs {
    /// Makes a certificate for these names and the configurations that use it.
    pub(crate) fn generate(names: &[String]) -> Result<Self, TlsError> {
        let made = rcgen::generate_simple_self_signed(names)?;
        let config = |versions: &[&'static SupportedProtocolVersion]| {
            let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
            ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
                .with_protocol_versions(versions)?
                .with_no_client_auth()
                .with_single_cert(vec![made.cert.der().clone()], PrivateKeyDer::Pkcs8(key))
        };
        let wrapped = config(&[&rustls::version::TLS12])?;
        let mut strict = config(rustls::ALL_VERSIONS)?;
        strict.alpn_protocols = vec![b"tds/8.0".to_vec()];
        Ok(Self {
            wrapped: Arc::new(wrapped),
            strict: Arc::new(strict),
            certificate_der: made.cert.der().to_vec(),
        })
    }
}

/// The names under which this machine knows itself.
pub(crate) fn local_names() -> Vec<String> {
    ["localhost", "127.0.0.1", "::1"].map(String::from).to_vec()
}

/// Why no TLS configuration could be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TlsError {
    /// The certificate could not be made.
    #[error("could not make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The configuration was refused.
    #[error("could not configure tls: {0}")]
    Config(#[from] rustls::Error),
}
