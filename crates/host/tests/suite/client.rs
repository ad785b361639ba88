//! The client, against hosts that behave and hosts that do not.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use accord_contract::{Code, Failure};
use accord_host::client::{Client, ClientOptions, InactivityTimeout, body_failure};
use accord_host::{Api as _, Request, Response};
use axum::body::{Body, Bytes};
use futures_util::StreamExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{PATIENCE, wait_until};

/// A host that does with each connection what a test says.
struct Scripted {
    url: String,
    connections: Arc<AtomicUsize>,
}

impl Scripted {
    async fn start<F, W>(serve: F) -> Self
    where
        F: Fn(TcpStream) -> W + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(stream));
            }
        });
        Self { url, connections }
    }

    fn client(&self) -> Client {
        self.client_that_waits(PATIENCE)
    }

    /// A client that a silent host runs into the limit of. The limit leaves time for what must
    /// come first.
    fn impatient(&self) -> Client {
        self.client_that_waits(Duration::from_secs(2))
    }

    fn client_that_waits(&self, limit: Duration) -> Client {
        let options = ClientOptions::default().with_inactivity_timeout(limit);
        Client::url(&self.url, &options).unwrap()
    }
}

/// Reads one request without a body.
async fn head(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => text.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(text).unwrap()
}

async fn say(stream: &mut TcpStream, text: &str) {
    // A client that went away is part of some tests.
    drop(stream.write_all(text.as_bytes()).await);
}

fn get(path: &str) -> Request {
    hyper::Request::get(path).body(Body::empty()).unwrap()
}

async fn text(response: Response) -> Result<String, Failure> {
    let mut body = response.into_body().into_data_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = body.next().await {
        bytes.extend_from_slice(&piece.map_err(body_failure)?);
    }
    Ok(String::from_utf8(bytes).unwrap())
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

#[tokio::test]
async fn one_connection_serves_one_request_after_the_other() {
    let host = Scripted::start(|mut stream| async move {
        while !head(&mut stream).await.is_empty() {
            say(&mut stream, OK).await;
        }
    })
    .await;
    let client = host.client();
    for _ in 0..5 {
        let answer = client.call(get("/v1/projects")).await.unwrap();
        assert_eq!(text(answer).await.unwrap(), "{}");
    }
    assert_eq!(host.connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_request_says_where_it_goes_and_carries_its_key() {
    let host = Scripted::start(|mut stream| async move {
        let asked = head(&mut stream).await;
        let length = asked.len();
        say(&mut stream, &format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{asked}"))
            .await;
    })
    .await;
    let options = ClientOptions::default().with_key(Some("accord_a_b".to_owned()));
    let url = format!("{}/base/", host.url);
    let client = Client::url(&url, &options).unwrap();
    let answer = client.call(get("/v1/projects?limit=1")).await.unwrap();
    let asked = text(answer).await.unwrap().to_lowercase();
    assert!(asked.starts_with("get /base/v1/projects?limit=1 http/1.1\r\n"), "{asked}");
    let named = host.url.strip_prefix("http://").unwrap();
    for header in
        [&format!("host: {named}"), "authorization: bearer accord_a_b", "user-agent: accord/"]
    {
        assert!(asked.contains(header), "{header}: {asked}");
    }
}

#[tokio::test]
async fn a_connection_that_the_host_closed_is_opened_again() {
    let closed = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&closed);
    let host = Scripted::start(move |mut stream| {
        let counter = Arc::clone(&counter);
        async move {
            head(&mut stream).await;
            say(&mut stream, OK).await;
            drop(stream);
            counter.fetch_add(1, Ordering::SeqCst);
        }
    })
    .await;
    let client = host.client();
    for expected in 1..=3 {
        let answer = client.call(get("/")).await.unwrap();
        assert_eq!(text(answer).await.unwrap(), "{}");
        assert_eq!(host.connections.load(Ordering::SeqCst), expected);
        wait_until("the host to close the connection", || {
            closed.load(Ordering::SeqCst) == expected
        })
        .await;
        // The runtime looks at its sockets while this waits.
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn waiting_for_an_answer_is_bounded() {
    let host = Scripted::start(|mut stream| async move {
        head(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let failure = host.impatient().call(get("/")).await.unwrap_err();
    assert_eq!(failure.code, Code::HostTimeout, "{failure}");
    // Work that takes long before its first word is given its time.
    let mut slow = get("/");
    slow.extensions_mut().insert(InactivityTimeout(Duration::from_secs(60)));
    let client = host.impatient();
    let waited = tokio::time::timeout(Duration::from_secs(3), client.call(slow)).await;
    assert!(waited.is_err(), "it still waits");
}

#[tokio::test]
async fn waiting_for_the_rest_of_an_answer_is_bounded() {
    let host = Scripted::start(|mut stream| async move {
        head(&mut stream).await;
        say(&mut stream, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").await;
        std::future::pending::<()>().await;
    })
    .await;
    let answer = host.impatient().call(get("/")).await.unwrap();
    let failure = text(answer).await.unwrap_err();
    assert_eq!(failure.code, Code::HostTimeout, "{failure}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_answer() {
    let host = Scripted::start(|mut stream| async move {
        head(&mut stream).await;
        say(&mut stream, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf").await;
    })
    .await;
    let answer = host.client().call(get("/")).await.unwrap();
    let failure = text(answer).await.unwrap_err();
    assert_eq!(failure.code, Code::HostUnreachable, "{failure}");
}

#[tokio::test]
async fn what_is_no_host_is_said_to_be_none() {
    let host = Scripted::start(|mut stream| async move {
        say(&mut stream, "220 mail.example.org ready\r\n").await;
        std::future::pending::<()>().await;
    })
    .await;
    let failure = host.client().call(get("/")).await.unwrap_err();
    assert_eq!(failure.code, Code::HostProtocol, "{failure}");
}

#[tokio::test]
async fn without_a_listener_there_is_no_host() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client = Client::url(&url, &ClientOptions::default()).unwrap();
    let failure = client.call(get("/")).await.unwrap_err();
    assert_eq!(failure.code, Code::HostUnreachable, "{failure}");
    let folder = tempfile::tempdir().unwrap();
    let client = Client::socket(&folder.path().join("accord.sock")).unwrap();
    let failure = client.connect().await.unwrap_err();
    assert_eq!(failure.code, Code::HostUnreachable, "{failure}");
}

#[tokio::test]
async fn our_own_slowness_is_no_silence_of_the_host() {
    let host = Scripted::start(|mut stream| async move {
        let asked = head(&mut stream).await;
        assert!(asked.to_lowercase().contains("transfer-encoding: chunked"));
        let mut body = Vec::new();
        while !body.ends_with(b"0\r\n\r\n") {
            body.push(stream.read_u8().await.unwrap());
        }
        say(&mut stream, OK).await;
    })
    .await;
    let pieces = futures_util::stream::unfold(0, |sent| async move {
        tokio::time::sleep(Duration::from_millis(2500)).await;
        (sent < 2).then(|| (Ok::<_, std::io::Error>(Bytes::from_static(b"{}\n")), sent + 1))
    });
    let request = hyper::Request::post("/").body(Body::from_stream(pieces)).unwrap();
    let answer = host.impatient().call(request).await.unwrap();
    assert_eq!(text(answer).await.unwrap(), "{}");
}

#[tokio::test]
async fn a_host_that_takes_nothing_is_not_waited_for() {
    let host = Scripted::start(|stream| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let endless = futures_util::stream::repeat_with(|| {
        Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 16]))
    });
    let request = hyper::Request::post("/").body(Body::from_stream(endless)).unwrap();
    let failure = host.impatient().call(request).await.unwrap_err();
    assert_eq!(failure.code, Code::HostTimeout, "{failure}");
}

#[tokio::test]
async fn a_request_body_that_breaks_off_is_reported_as_such() {
    let host = Scripted::start(|mut stream| async move {
        head(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let gone = Failure::new(Code::InputUnreadable, "the file is gone");
    let pieces = futures_util::stream::once(async { Err::<Bytes, _>(gone) });
    let request = hyper::Request::post("/").body(Body::from_stream(pieces)).unwrap();
    let failure = host.client().call(request).await.unwrap_err();
    assert_eq!(failure.code, Code::InputUnreadable, "{failure}");
}

#[tokio::test]
async fn a_server_without_tls_is_distinguished_from_an_untrusted_one() {
    let host = Scripted::start(|mut stream| async move {
        say(&mut stream, "HTTP/1.1 400 Bad Request\r\n\r\n").await;
    })
    .await;
    let url = host.url.replace("http://", "https://");
    let client = Client::url(&url, &ClientOptions::default()).unwrap();
    let failure = client.call(get("/")).await.unwrap_err();
    assert_eq!(failure.code, Code::HostTls, "{failure}");
    assert!(failure.suggestion.unwrap().contains("http://"));
}
