//! Opening connections.

use std::net::SocketAddr;
use std::time::Duration;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream, lookup_host};
use tokio_rustls::TlsConnector;

use crate::client::RequestBody;
use crate::endpoint::{Address, Endpoint, Network};
use crate::errors::ClientError;
use crate::reach::Reach;
use crate::tls;

/// Opens connections to one endpoint.
pub(crate) struct Connector {
    pub(crate) endpoint: Endpoint,
    tls: Option<Tls>,
    timeout: Duration,
    reach: Reach,
}

struct Tls {
    connector: TlsConnector,
    name: ServerName<'static>,
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

impl Connector {
    pub(crate) fn new(
        endpoint: Endpoint,
        timeout: Duration,
        reach: Reach,
    ) -> Result<Self, ClientError> {
        let tls = match &endpoint.0 {
            Address::Network(network) if network.is_tls => Some(Tls {
                // Checked once, when the client is made, and not at the first request.
                name: ServerName::try_from(network.host.clone())
                    .map_err(|_| ClientError::server_name(&endpoint))?,
                connector: TlsConnector::from(
                    tls::CONFIG.clone().map_err(|error| ClientError::no_tls(&endpoint, &error))?,
                ),
            }),
            _ => None,
        };
        Ok(Self { endpoint, tls, timeout, reach })
    }

    pub(crate) async fn connect(&self) -> Result<SendRequest<RequestBody>, ClientError> {
        // One timeout for name lookup, TCP and TLS together: a server that accepts and stays silent
        // is as bad as one that does not accept.
        let stream = tokio::time::timeout(self.timeout, self.open()).await;
        let late = |_| ClientError::connect_timeout(&self.endpoint, self.timeout);
        let opened = http1::handshake(TokioIo::new(stream.map_err(late)??)).await;
        let (sender, connection) =
            opened.map_err(|error| ClientError::exchange(&self.endpoint, error))?;
        // An error of the connection also ends the exchange that uses it, and is reported there.
        tokio::spawn(connection);
        Ok(sender)
    }

    async fn open(&self) -> Result<Box<dyn Stream>, ClientError> {
        let connect_failed = |error| ClientError::connect(&self.endpoint, &error);
        let network = match &self.endpoint.0 {
            Address::Socket(path, check) => {
                let stream = UnixStream::connect(path).await.map_err(connect_failed)?;
                let server = stream.peer_cred().map_err(connect_failed)?;
                check(&server).map_err(ClientError::server)?;
                return Ok(Box::new(stream));
            }
            Address::Network(network) => network,
        };
        let stream = tcp(network, self.reach).await.map_err(connect_failed)?;
        let Some(Tls { connector, name }) = &self.tls else { return Ok(Box::new(stream)) };
        let stream = connector.connect(name.clone(), stream).await;
        Ok(Box::new(stream.map_err(|error| ClientError::tls_handshake(&self.endpoint, &error))?))
    }
}

async fn tcp(network: &Network, reach: Reach) -> std::io::Result<TcpStream> {
    let addresses = look_up(network, reach).await?;
    let stream = TcpStream::connect(addresses.as_slice()).await?;
    // Requests are written whole; Nagle's algorithm would only delay them.
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The addresses of an endpoint, if they are within reach.
pub(crate) async fn addresses(
    endpoint: &Endpoint,
    reach: Reach,
) -> std::io::Result<Vec<SocketAddr>> {
    match &endpoint.0 {
        Address::Socket(..) => Ok(Vec::new()),
        Address::Network(network) => look_up(network, reach).await,
    }
}

/// What was checked is what is connected to: a name may have another address a moment later.
async fn look_up(network: &Network, reach: Reach) -> std::io::Result<Vec<SocketAddr>> {
    let found = lookup_host((network.host.as_str(), network.port)).await?;
    Ok(in_order(reach.check(found.collect())?))
}

/// The addresses in the order in which they are tried: of those of this machine, IPv4 first. A host
/// listens on 127.0.0.1 unless it is set otherwise, and another program can listen on the same port
/// of ::1, which `localhost` often means first.
fn in_order(mut addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    if addresses.iter().all(|address| address.ip().is_loopback()) {
        addresses.sort_by_key(SocketAddr::is_ipv6);
    }
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_this_machine_is_tried_as_ipv4_first() {
        let of = |texts: [&str; 2]| texts.map(|text| text.parse().expect("an address")).to_vec();
        let local = in_order(of(["[::1]:7171", "127.0.0.1:7171"]));
        assert_eq!(local, of(["127.0.0.1:7171", "[::1]:7171"]));
        let other = of(["[2001:db8::1]:443", "192.0.2.1:443"]);
        assert_eq!(in_order(other.clone()), other, "the order of the system");
    }
}
