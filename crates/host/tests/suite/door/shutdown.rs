//! How a server ends.

use std::time::{Duration, Instant};

use accord_host::http::Host;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{sleep, timeout};

use super::{Answer, Door, PATIENCE, request, settings_of};

#[tokio::test]
async fn what_runs_is_finished() {
    let door = Door::open(&[]).await;
    let body = r#"{"label": "late", "verbs": ["admin"]}"#;
    let whole = request(
        &door.address.to_string(),
        "POST",
        "/accord/v1/keys",
        &[],
        body,
    );
    let (first, rest) = whole.split_at(whole.len() - 10);
    let rest = rest.to_owned();
    let mut stream = door.connect().await;
    stream.write_all(first.as_bytes()).await.unwrap();
    sleep(Duration::from_millis(100)).await;
    let address = door.address;
    let finishing = tokio::spawn(async move {
        sleep(Duration::from_millis(300)).await;
        stream.write_all(rest.as_bytes()).await.unwrap();
        Answer::read(&mut stream).await
    });
    let folder = door.close().await;
    let answer = finishing.await.unwrap();
    assert_eq!(answer.status, 201, "{answer:?}");
    assert!(
        tokio::net::TcpStream::connect(address).await.is_err(),
        "nobody listens"
    );
    // What was acknowledged is there.
    let host = Host::open(folder.path(), settings_of(folder.path(), &[])).unwrap();
    assert!(host.keys().required());
}

#[tokio::test]
async fn idle_clients_and_streams_do_not_keep_it() {
    let door = Door::open(&[]).await;
    let keep = request(&door.address.to_string(), "GET", "/healthz", &[], "");
    let keep = keep.replace("Connection: close\r\n", "");
    let mut asked = door.connect().await;
    asked.write_all(keep.as_bytes()).await.unwrap();
    let mut some = [0; 64];
    timeout(PATIENCE, asked.read(&mut some))
        .await
        .unwrap()
        .unwrap();
    let _silent = door.connect().await;
    let mut ticket = door.host.streams().take().unwrap();
    let stream = tokio::spawn(async move { ticket.closing().await });
    let streams = door.host.streams().clone();
    let began = Instant::now();
    door.close().await;
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    timeout(PATIENCE, stream).await.unwrap().unwrap();
    assert_eq!(streams.take().unwrap_err().code.as_str(), "HOST_CLOSING");
}

#[tokio::test]
async fn what_does_not_end_is_cut_off() {
    let door = Door::open(&[
        ("limits.shutdown_timeout", "300ms"),
        ("limits.body_timeout", "1m"),
    ])
    .await;
    let mut stream = door.connect().await;
    let head = format!(
        "POST /accord/v1/keys HTTP/1.1\r\nHost: {}\r\nContent-Length: 40\r\n\r\n{{",
        door.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    sleep(Duration::from_millis(50)).await;
    let began = Instant::now();
    door.close().await;
    let took = began.elapsed();
    assert!(
        took >= Duration::from_millis(250) && took < Duration::from_secs(5),
        "{took:?}"
    );
}
