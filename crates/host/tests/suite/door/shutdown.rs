//! How a server ends.

use std::time::{Duration, Instant};

use accord_host::http::Host;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::{Answer, Door, PATIENCE, request, settings_of};
use crate::support::wait_until;

/// Sends the head of a request, and waits until the server reads its body.
async fn begin(door: &Door, head: &str) -> TcpStream {
    const GOES_ON: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut stream = door.connect().await;
    let head = head.replacen("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n", 1);
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; GOES_ON.len()];
    timeout(PATIENCE, stream.read_exact(&mut answer)).await.unwrap().unwrap();
    assert_eq!(answer, GOES_ON);
    stream
}

#[tokio::test]
async fn what_runs_is_finished() {
    let door = Door::open(&[]).await;
    let body = r#"{"label": "late", "verbs": ["admin"]}"#;
    let whole = request(&door.address.to_string(), "POST", "/accord/v1/keys", &[], body);
    let (first, rest) = whole.split_at(whole.len() - body.len());
    let mut stream = begin(&door, first).await;
    let address = door.address;
    let closing = tokio::spawn(door.close());
    wait_until("the server to stop listening", || std::net::TcpStream::connect(address).is_err())
        .await;
    stream.write_all(rest.as_bytes()).await.unwrap();
    let answer = Answer::read(&mut stream).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let folder = closing.await.unwrap();
    // What was acknowledged is there.
    let host = Host::open(folder.path(), settings_of(folder.path(), &[])).unwrap();
    assert!(host.keys().required().await.unwrap());
}

#[tokio::test]
async fn idle_clients_and_streams_do_not_keep_it() {
    let door = Door::open(&[("limits.shutdown_timeout", "60m")]).await;
    let keep = request(&door.address.to_string(), "GET", "/healthz", &[], "");
    let keep = keep.replace("Connection: close\r\n", "");
    let mut asked = door.connect().await;
    asked.write_all(keep.as_bytes()).await.unwrap();
    let mut some = [0; 64];
    timeout(PATIENCE, asked.read(&mut some)).await.unwrap().unwrap();
    let _silent = door.connect().await;
    let mut ticket = door.host.streams().take().unwrap();
    let stream = tokio::spawn(async move { ticket.closing().await });
    let streams = door.host.streams().clone();
    door.close().await;
    timeout(PATIENCE, stream).await.unwrap().unwrap();
    assert_eq!(streams.take().unwrap_err().code.as_str(), "HOST_CLOSING");
}

#[tokio::test]
async fn what_does_not_end_is_cut_off() {
    let door =
        Door::open(&[("limits.shutdown_timeout", "300ms"), ("limits.body_timeout", "60m")]).await;
    let head = format!(
        "POST /accord/v1/keys HTTP/1.1\r\nHost: {}\r\nContent-Length: 40\r\n\r\n",
        door.address
    );
    let _stream = begin(&door, &head).await;
    let began = Instant::now();
    door.close().await;
    assert!(began.elapsed() >= Duration::from_millis(250));
}
