//! A connection to a server that costs little: one request after the other, nothing but what a
//! request needs. Benchmarks use it, too.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

/// A connection.
pub(crate) struct Connection {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            address,
            stream: BufReader::with_capacity(64 * 1024, stream),
            request: Vec::new(),
        })
    }

    pub(crate) fn get(&mut self, path: &str) -> io::Result<(u16, Vec<u8>)> {
        self.send("GET", path, "application/json", b"")
    }

    pub(crate) fn post(&mut self, path: &str, document: &str) -> io::Result<(u16, Vec<u8>)> {
        self.send("POST", path, "application/json", document.as_bytes())
    }

    /// Sends a request and waits for its answer: the status and the body.
    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        media_type: &str,
        body: &[u8],
    ) -> io::Result<(u16, Vec<u8>)> {
        let Self { address, request, .. } = self;
        request.clear();
        write!(
            request,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: {media_type}\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        )?;
        request.extend_from_slice(body);
        self.stream.get_mut().write_all(&self.request)?;
        self.answer()
    }

    fn answer(&mut self) -> io::Result<(u16, Vec<u8>)> {
        let cut_off = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.get(9..12).and_then(|text| text.parse().ok());
        let status = status.ok_or_else(cut_off)?;
        let mut length = 0;
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(cut_off());
            }
            if line.trim().is_empty() {
                break;
            }
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(|_| cut_off())?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((status, body))
    }
}
