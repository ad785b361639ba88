//! Limits on size and number, each with its code.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::{Answer, Door, PATIENCE, request};
use crate::support::wait_until;

#[tokio::test]
async fn a_body_past_the_limit_is_refused_before_it_is_read() {
    let door = Door::open(&[("limits.body_bytes", "1KiB")]).await;
    let fits = format!("{{\"label\": \"x\"{}}}", " ".repeat(900));
    let answer = door.ask("POST", "/accord/v1/keys", &[], &fits).await;
    answer.refused(422, "WIRE_FIELD_MISSING");
    // Announced: the body never comes, and the answer does.
    let mut stream = door.connect().await;
    let head = format!(
        "POST /accord/v1/keys HTTP/1.1\r\nHost: {}\r\nContent-Length: 1025\r\n\
         Connection: close\r\n\r\n",
        door.address
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let body = Answer::read(&mut stream).await;
    let body = body.refused(413, "payload_too_large");
    assert!(body["error"]["message"].as_str().unwrap().contains("1024"));
    // Not announced: in chunks.
    let chunk = "x".repeat(600);
    let chunked = format!(
        "POST /accord/v1/keys HTTP/1.1\r\nHost: {}\r\nTransfer-Encoding: chunked\r\n\
         Connection: close\r\n\r\n\
         258\r\n{chunk}\r\n258\r\n{chunk}\r\n0\r\n\r\n",
        door.address
    );
    door.send(chunked.as_bytes()).await.refused(413, "payload_too_large");
    door.close().await;
}

#[tokio::test]
async fn a_client_that_is_still_sending_sees_the_refusal() {
    let door = Door::open(&[("limits.body_bytes", "1KiB")]).await;
    let body = "x".repeat(8 << 20);
    // All of it is written before anything is read, as simple clients do.
    let answer = door.ask("POST", "/accord/v1/keys", &[], &body).await;
    answer.refused(413, "payload_too_large");
    // Where nobody reads the body at all, too.
    let answer = door.ask("POST", "/nowhere", &[], &body).await;
    answer.refused(404, "HTTP_ROUTE_UNKNOWN");
    door.close().await;
}

#[tokio::test]
async fn what_is_not_http_gets_a_code_too() {
    let door = Door::open(&[("limits.header_bytes", "8KiB")]).await;
    for broken in [
        "GARBAGE\r\n\r\n".to_owned(),
        format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nno colon\r\n\r\n", door.address),
        "GET /health\u{0}z HTTP/1.1\r\n\r\n".to_owned(),
    ] {
        door.send(broken.as_bytes()).await.refused(400, "HTTP_MALFORMED");
    }
    let long = "x".repeat(9_000);
    let answer = door.ask("GET", "/healthz", &[("X-Long", &long)], "").await;
    answer.refused(431, "HTTP_HEADERS_TOO_LARGE");
    let answer = door.ask("GET", &format!("/{long}"), &[], "").await;
    answer.refused(431, "HTTP_HEADERS_TOO_LARGE");
    let many: Vec<_> = (0..200).map(|_| ("X-Many", "1")).collect();
    let answer = door.ask("GET", "/healthz", &many, "").await;
    answer.refused(431, "HTTP_HEADERS_TOO_LARGE");
    // Also behind a request that was fine, on the same connection.
    let fine = request(&door.address.to_string(), "GET", "/healthz", &[], "");
    let fine = fine.replace("Connection: close\r\n", "");
    let answer = door.send(format!("{fine}GARBAGE\r\n\r\n").as_bytes()).await;
    assert_eq!(answer.status, 200);
    assert!(answer.body.contains("HTTP_MALFORMED"), "{answer:?}");
    let text = door.get("/metrics").await.body;
    assert!(text.contains("accord_http_refusals_total{code=\"HTTP_MALFORMED\"} 4"), "{text}");
    door.close().await;
}

#[tokio::test]
async fn connections_past_the_limit_are_refused_at_once() {
    let door = Door::open(&[("limits.connections", "2")]).await;
    let (first, second) = (door.connect().await, door.connect().await);
    wait_for_connections(&door, 2).await;
    let answer = door.get("/healthz").await;
    let body = answer.refused(503, "HTTP_TOO_MANY_CONNECTIONS");
    assert_eq!(body["error"]["type"], "execution");
    drop((first, second));
    wait_for_connections(&door, 0).await;
    assert_eq!(door.get("/healthz").await.status, 200);
    door.close().await;
}

pub(super) async fn wait_for_connections(door: &Door, count: usize) {
    let wanted = format!("accord_connections {count}\n");
    let what = format!("{count} open connections");
    wait_until(&what, || door.host.metrics().text().contains(&wanted)).await;
}

#[tokio::test]
async fn event_streams_past_the_limit_are_refused() {
    let door = Door::open(&[("limits.event_streams", "1")]).await;
    let first = door.host.streams().take().unwrap();
    let refused = door.host.streams().take().unwrap_err();
    assert_eq!(refused.code.as_str(), "HTTP_TOO_MANY_STREAMS");
    drop(first);
    assert!(door.host.streams().take().is_ok());
    door.close().await;
}

#[tokio::test]
async fn other_media_types_and_methods_are_refused() {
    let door = Door::open(&[]).await;
    let head = format!(
        "POST /accord/v1/keys HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 2\r\n",
        door.address
    );
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonish", ""] {
        let sent = format!("{head}Content-Type: {kind}\r\n\r\n{{}}");
        door.send(sent.as_bytes()).await.refused(415, "HTTP_MEDIA_TYPE");
    }
    for kind in ["application/json; charset=utf-8", "Application/JSON", "application/x+json"] {
        let sent = format!("{head}Content-Type: {kind}\r\n\r\n{{}}");
        door.send(sent.as_bytes()).await.refused(422, "WIRE_FIELD_MISSING");
    }
    let answer = door.ask("PUT", "/accord/v1/keys", &[], "{}").await;
    answer.refused(405, "HTTP_METHOD_NOT_ALLOWED");
    assert!(answer.head.contains("allow: get,head,post"), "{answer:?}");
    door.get("/v2/packages").await.refused(404, "HTTP_ROUTE_UNKNOWN");
    door.close().await;
}

#[tokio::test]
async fn correlation_ids_are_taken_over_where_they_are_plain() {
    let door = Door::open(&[]).await;
    let answer = door.ask("GET", "/nowhere", &[("X-Correlation-Id", "run-7:step/3")], "").await;
    let body = answer.refused(404, "HTTP_ROUTE_UNKNOWN");
    assert_eq!(body["correlationId"], "run-7:step/3");
    let answer = door.ask("GET", "/healthz", &[("X-Correlation-Id", "mine")], "").await;
    assert!(answer.head.contains("x-correlation-id: mine"));
    let long = "x".repeat(129);
    for odd in ["two words", "<script>", "\u{e4}", long.as_str()] {
        let answer = door.ask("GET", "/nowhere", &[("X-Correlation-Id", odd)], "").await;
        let body = answer.refused(404, "HTTP_ROUTE_UNKNOWN");
        assert_ne!(body["correlationId"], odd);
    }
    door.close().await;
}

#[tokio::test]
async fn noise_is_answered_or_closed_and_does_not_affect_others() {
    let door = Door::open(&[("limits.header_timeout", "200ms")]).await;
    let fine = request(&door.address.to_string(), "POST", "/accord/v1/keys", &[], "{}");
    let mut seed = 7_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed >> 33
    };
    for round in 0..120 {
        let mut bytes = fine.clone().into_bytes();
        for _ in 0..=next() % 8 {
            let place = usize::try_from(next()).unwrap() % bytes.len();
            match next() % 3 {
                0 => bytes[place] = next().to_le_bytes()[0],
                1 => bytes.truncate(place.max(1)),
                _ => bytes.insert(place, next().to_le_bytes()[0]),
            }
        }
        let mut stream = door.connect().await;
        // It may rightly be closed before all of it is written.
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let read = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        assert!(read.is_ok(), "round {round} hangs: {:?}", String::from_utf8_lossy(&bytes));
        let answer = String::from_utf8_lossy(&answer);
        let coded = answer.contains("\"code\":\"");
        assert!(answer.is_empty() || coded, "round {round}: {answer}");
    }
    assert_eq!(door.get("/healthz").await.status, 200);
    door.close().await;
}
