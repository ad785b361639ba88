//! Requests from code that has no async runtime.
//!
//! Each request has its own runtime and connection, so that nothing is left running when the
//! caller stops waiting. Must not be called from an async task.

use std::future::Future;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use bytes::{Buf as _, Bytes};
use data_encoding::BASE64;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use hyper::{Request, Response, Uri};
use tokio::runtime::{Builder, Runtime};

use crate::client::{Client, Timeouts};
use crate::connect::addresses;
use crate::endpoint::Endpoint;
use crate::errors::{ClientError, ClientErrorKind};
use crate::inactivity::ResponseBody;
use crate::reach::Reach;

/// How often a wait checks whether the caller has cancelled it.
const CANCEL_CHECK: Duration = Duration::from_millis(20);

/// Sends a request to the server that its absolute URI names, and waits for the head of the
/// response. User name and password in the URI become the `Authorization` header.
///
/// The whole exchange, including reading the body, must end before `deadline`, and ends early when
/// `is_cancelled` returns true.
pub fn send<'a>(
    request: Request<Bytes>,
    deadline: Instant,
    is_cancelled: &'a dyn Fn() -> bool,
) -> Result<Response<Body<'a>>, ClientError> {
    send_within(request, deadline, is_cancelled, Reach::Any)
}

/// Sends a request as [`send`] does, if the addresses of the server are within reach.
pub fn send_within<'a>(
    mut request: Request<Bytes>,
    deadline: Instant,
    is_cancelled: &'a dyn Fn() -> bool,
    reach: Reach,
) -> Result<Response<Body<'a>>, ClientError> {
    let endpoint = Endpoint::from_uri(request.uri())?;
    let credentials = basic_credentials(request.uri());
    let headers = request.headers_mut();
    headers.entry(ACCEPT).or_insert(HeaderValue::from_static("*/*"));
    if let Some(credentials) = credentials {
        headers.entry(AUTHORIZATION).or_insert(credentials);
    }
    let left = deadline.saturating_duration_since(Instant::now());
    // One deadline covers everything here, so no shorter timeout may end the exchange first.
    let timeouts = Timeouts { connect: left, inactivity: left };
    let client = Client::within(endpoint, timeouts, reach)?;
    let waiter = Waiter::new(deadline, is_cancelled)?;
    let response = waiter.wait(client.send(request.map(Full::new)))?;
    Ok(response.map(|body| Body { waiter, body, unread: Bytes::new() }))
}

/// Looks up the server that a URI names, and fails if its addresses are not within reach. Nothing
/// is sent.
pub fn look_up(uri: &Uri, deadline: Instant, reach: Reach) -> Result<(), ClientError> {
    let endpoint = Endpoint::from_uri(uri)?;
    let never = || false;
    let waiter = Waiter::new(deadline, &never)?;
    waiter.wait(async {
        let found = addresses(&endpoint, reach).await;
        found.map(drop).map_err(|error| ClientError::connect(&endpoint, &error))
    })
}

/// The body of a response. As a reader, its errors hold a [`ClientError`].
pub struct Body<'a> {
    waiter: Waiter<'a>,
    body: ResponseBody,
    unread: Bytes,
}

impl Body<'_> {
    /// Reads the whole body, which may have at most `limit` bytes.
    pub fn read_to_limit(mut self, limit: usize) -> Result<Vec<u8>, ClientError> {
        let mut bytes = Vec::new();
        while let Some(data) = self.next()? {
            if bytes.len() + data.len() > limit {
                return Err(ClientError::too_large(limit));
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    }

    fn next(&mut self) -> Result<Option<Bytes>, ClientError> {
        loop {
            let body = &mut self.body;
            let frame = self.waiter.wait(async { body.frame().await.transpose() })?;
            match frame.map(hyper::body::Frame::into_data) {
                None => return Ok(None),
                Some(Ok(data)) if !data.is_empty() => return Ok(Some(data)),
                // Trailers carry nothing that a reader wants.
                Some(_) => {}
            }
        }
    }
}

impl Read for Body<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.unread.is_empty() {
            let data = self.next().map_err(|error| {
                let kind = match error.kind() {
                    ClientErrorKind::Timeout => io::ErrorKind::TimedOut,
                    _ => io::ErrorKind::Other,
                };
                io::Error::new(kind, error)
            })?;
            self.unread = data.unwrap_or_default();
        }
        let count = buffer.len().min(self.unread.len());
        self.unread.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

struct Waiter<'a> {
    runtime: Option<Runtime>,
    deadline: tokio::time::Instant,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl<'a> Waiter<'a> {
    fn new(deadline: Instant, is_cancelled: &'a dyn Fn() -> bool) -> Result<Self, ClientError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self {
            runtime: Some(runtime.map_err(|error| ClientError::no_runtime(&error))?),
            deadline: deadline.into(),
            is_cancelled,
        })
    }

    fn wait<T>(
        &self,
        work: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let Some(runtime) = &self.runtime else { return Err(ClientError::cancelled()) };
        runtime.block_on(async {
            let mut work = std::pin::pin!(work);
            loop {
                let now = tokio::time::Instant::now();
                let check = self.deadline.min(now + CANCEL_CHECK);
                match tokio::time::timeout_at(check, work.as_mut()).await {
                    Ok(result) => return result,
                    // Checked before the deadline: a caller that cancelled must not see a timeout.
                    Err(_) if (self.is_cancelled)() => return Err(ClientError::cancelled()),
                    Err(_) if check == self.deadline => return Err(ClientError::deadline()),
                    Err(_) => {}
                }
            }
        })
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        // A name lookup cannot be interrupted. An ordinary drop would wait for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn basic_credentials(uri: &Uri) -> Option<HeaderValue> {
    // The last `@`: a password may contain one, a host may not.
    let (user, _) = uri.authority()?.as_str().rsplit_once('@')?;
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let encoded = BASE64.encode(format!("{name}:{password}").as_bytes());
    let mut header = HeaderValue::try_from(format!("Basic {encoded}")).ok()?;
    // Keeps the password out of debug output of the request.
    header.set_sensitive(true);
    Some(header)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::thread::{JoinHandle, spawn};

    use super::*;

    /// A server that reads the head of one request and answers it.
    fn serve(answer: impl FnOnce(TcpStream) + Send + 'static) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut head = String::new();
            let mut reader = BufReader::new(&stream);
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).unwrap();
            }
            answer(stream);
            head
        });
        (address, server)
    }

    fn get(url: &str) -> Request<Bytes> {
        Request::get(url).body(Bytes::new()).unwrap()
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";

    #[test]
    fn a_response_is_read_up_to_a_limit() {
        for limit in [4, 5] {
            let (address, server) = serve(|mut stream| stream.write_all(OK).unwrap());
            let url = format!("http://{address}/a?b=c");
            let response = send(get(&url), soon(), &|| false).unwrap();
            assert_eq!(response.status(), 200);
            let read = response.into_body().read_to_limit(limit);
            match limit {
                4 => assert_eq!(read.unwrap_err().kind(), ClientErrorKind::TooLarge),
                _ => assert_eq!(read.unwrap(), b"hello"),
            }
            let head = server.join().unwrap();
            assert!(head.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{head}");
            assert!(!head.contains("authorization"), "{head}");
        }
    }

    #[test]
    fn a_user_in_the_uri_is_sent_as_basic_authorization() {
        let (address, server) = serve(|mut stream| stream.write_all(OK).unwrap());
        let url = format!("http://lead:secret@{address}/");
        send(get(&url), soon(), &|| false).unwrap();
        let head = server.join().unwrap();
        assert!(head.contains("authorization: Basic bGVhZDpzZWNyZXQ=\r\n"), "{head}");
        assert!(head.contains(&format!("host: {address}\r\n")), "{head}");
    }

    #[test]
    fn a_private_address_is_refused_before_a_connection_is_opened() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "0", "[::ffff:127.0.0.1]"] {
            let request = get(&format!("http://{host}:{port}/"));
            assert!(send_within(request, soon(), &|| false, Reach::Public).is_err(), "{host}");
        }
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }

    #[test]
    fn a_redirect_is_not_followed() {
        let found = b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\n\
            content-length: 0\r\n\r\n";
        let (address, _) = serve(|mut stream| stream.write_all(found).unwrap());
        let response = send(get(&format!("http://{address}/")), soon(), &|| false).unwrap();
        assert_eq!(response.status(), 302);
    }

    #[test]
    fn the_deadline_covers_the_body() {
        let (wait, waiting) = std::sync::mpsc::channel::<()>();
        let (address, server) = serve(move |mut stream| {
            stream.write_all(&OK[..OK.len() - 1]).unwrap();
            let _ = waiting.recv();
        });
        let deadline = Instant::now() + Duration::from_millis(200);
        let response = send(get(&format!("http://{address}/")), deadline, &|| false).unwrap();
        let mut text = Vec::new();
        let error = response.into_body().read_to_end(&mut text).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(text, b"hell");
        drop(wait);
        server.join().unwrap();
    }

    #[test]
    fn a_cancelled_request_ends() {
        let (wait, waiting) = std::sync::mpsc::channel::<()>();
        let (address, server) = serve(move |_| {
            let _ = waiting.recv();
        });
        let checks = Cell::new(0);
        let is_cancelled = || {
            checks.set(checks.get() + 1);
            checks.get() > 2
        };
        let url = format!("http://{address}/");
        let error = send(get(&url), soon(), &is_cancelled).map(drop).unwrap_err();
        assert_eq!(error.kind(), ClientErrorKind::Cancelled);
        drop(wait);
        server.join().unwrap();
    }
}
