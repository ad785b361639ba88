//! Opening connections.

use std::sync::Arc;
use std::time::Duration;

use accord_contract::codes::Failure;
use axum::body::Body;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

use super::address::{Address, Network};
use super::{tls, trouble};

/// How long a connection may take to come about, encryption included.
const LIMIT: Duration = Duration::from_secs(10);

/// Opens connections to one host.
pub(super) struct Connector {
    secure: Option<Secure>,
}

struct Secure {
    connector: TlsConnector,
    name: ServerName<'static>,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Connector {
    pub(super) fn plain() -> Self {
        Self { secure: None }
    }

    /// A connector for an address: what it trusts is read once, here.
    pub(super) fn to(address: &Address) -> Result<Self, Failure> {
        let secure = match address {
            Address::Network(network) if network.is_secure => Some(Secure {
                name: ServerName::try_from(network.host.clone())
                    .map_err(|_| trouble::no_name(address))?,
                connector: TlsConnector::from(Arc::new(tls::config(address)?)),
            }),
            _ => None,
        };
        Ok(Self { secure })
    }

    pub(super) async fn connect(&self, address: &Address) -> Result<SendRequest<Body>, Failure> {
        let connecting = tokio::time::timeout(LIMIT, self.open(address));
        let stream = connecting.await.map_err(|_| {
            trouble::unreachable(address, &format!("no answer within {} s", LIMIT.as_secs()))
        })??;
        let shaken = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|error| trouble::broken(address, &error))?;
        // What goes wrong on the connection, its exchanges tell.
        tokio::spawn(connection);
        Ok(sender)
    }

    async fn open(&self, address: &Address) -> Result<Box<dyn Stream>, Failure> {
        let network = match address {
            Address::Socket(path) => {
                let stream = UnixStream::connect(path).await;
                let stream = stream.map_err(|error| trouble::refused(address, &error))?;
                return Ok(Box::new(stream));
            }
            Address::Network(network) => network,
        };
        let stream = tcp(network)
            .await
            .map_err(|error| trouble::refused(address, &error))?;
        let Some(secure) = &self.secure else {
            return Ok(Box::new(stream));
        };
        let stream = secure.connector.connect(secure.name.clone(), stream).await;
        let stream = stream.map_err(|error| trouble::insecure(address, &error))?;
        Ok(Box::new(stream))
    }
}

async fn tcp(network: &Network) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect((network.host.as_str(), network.port)).await?;
    // Requests are small, and wait for nothing.
    stream.set_nodelay(true)?;
    Ok(stream)
}
