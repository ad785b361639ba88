//! Clients that make no progress.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{sleep, timeout};

use super::{Answer, Door, PATIENCE, request};

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let door =
        Door::open(&[("limits.header_timeout", "200ms"), ("limits.idle_timeout", "1m")]).await;
    let mut stream = door.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nX-Slow: ").await.unwrap();
    let began = Instant::now();
    Answer::read(&mut stream).await.refused(408, "HTTP_HEADER_TIMEOUT");
    assert!(began.elapsed() >= Duration::from_millis(150));
    // A byte now and then does not help.
    let mut stream = door.connect().await;
    let dripping = async {
        for byte in b"GET /healthz HTTP/1.1\r\n".iter().cycle() {
            if stream.write_all(&[*byte]).await.is_err() {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, dripping).await.expect("it is cut off");
    door.close().await;
}

#[tokio::test]
async fn a_body_that_pauses_is_refused_and_a_slow_one_is_not() {
    let limits = [("limits.body_timeout", "2s"), ("limits.body_rate", "5")];
    let door = Door::open(&limits).await;
    let head = format!(
        "POST /accord/v1/keys HTTP/1.1\r\nHost: {}\r\nContent-Length: 40\r\n\
         Connection: close\r\n\r\n",
        door.address
    );
    let mut stream = door.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(b"{\"label\"").await.unwrap();
    Answer::read(&mut stream).await.refused(408, "HTTP_BODY_TIMEOUT");
    assert!(!door.host.keys().required().await.unwrap());
    // Slower than the limit as a whole, and never silent for that long.
    let mut stream = door.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    for part in [&b"{\"label\":"[..], b"\"slow\",   ", b"  \"verbs\":", b"[\"read\"]}"] {
        sleep(Duration::from_millis(600)).await;
        stream.write_all(part).await.unwrap();
    }
    stream.write_all(b"   ").await.unwrap();
    let answer = Answer::read(&mut stream).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    door.close().await;
}

#[tokio::test]
async fn a_body_that_breaks_off_changes_nothing() {
    let door = Door::open(&[]).await;
    let body = r#"{"label": "half", "verbs": ["admin"]}"#;
    let whole = request(&door.address.to_string(), "POST", "/accord/v1/keys", &[], body);
    let mut stream = door.connect().await;
    stream.write_all(&whole.as_bytes()[..whole.len() - 5]).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut rest = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut rest)).await.unwrap().unwrap();
    assert!(!door.host.keys().required().await.unwrap());
    door.close().await;
}

#[tokio::test]
async fn idle_connections_end_by_themselves() {
    let door = Door::open(&[("limits.idle_timeout", "3s"), ("limits.header_timeout", "1m")]).await;
    // One that never asked, and one that asked twice.
    let mut silent = door.connect().await;
    let mut stream = door.connect().await;
    let keep = request(&door.address.to_string(), "GET", "/healthz", &[], "");
    let keep = keep.replace("Connection: close\r\n", "");
    stream.write_all(keep.as_bytes()).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    stream.write_all(keep.as_bytes()).await.unwrap();
    let began = Instant::now();
    let mut bytes = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    assert!(began.elapsed() >= Duration::from_millis(2500), "the second request counts");
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.matches("\"ready\":true").count(), 2, "{text}");
    let mut nothing = Vec::new();
    timeout(PATIENCE, silent.read_to_end(&mut nothing)).await.unwrap().unwrap();
    assert!(nothing.is_empty());
    door.close().await;
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_let_go() {
    let door = Door::open(&[("limits.write_timeout", "300ms")]).await;
    let mut stream = door.connect().await;
    let keep = request(&door.address.to_string(), "GET", "/openapi.json", &[], "");
    let keep = keep.replace("Connection: close\r\n", "");
    // Asks and asks, and reads nothing, until the server has no room for answers.
    let asking = async { while stream.write_all(keep.as_bytes()).await.is_ok() {} };
    timeout(PATIENCE, asking).await.expect("the server cuts it off");
    door.close().await;
}
