//! Host and Origin.

use super::Door;

#[tokio::test]
async fn only_our_own_names_are_answered() {
    let door = Door::open(&[("allowed_hosts", "accord.example.org, inner.example:9000")]).await;
    let port = door.address.port();
    for ours in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("LocalHost:{port}"),
        format!("[::1]:{port}"),
        "accord.example.org".into(),
        "Accord.Example.org:443".into(),
        "inner.example:9000".into(),
    ] {
        let answer = door.ask("GET", "/healthz", &[("Host", &ours)], "").await;
        assert_eq!(answer.status, 200, "{ours}: {answer:?}");
    }
    for other in [
        format!("rebound.example:{port}"),
        "127.0.0.1".into(),
        "localhost:1".into(),
        format!("localhost.evil.example:{port}"),
        format!("10.0.0.1:{port}"),
        "inner.example:9001".into(),
    ] {
        let answer = door.ask("GET", "/healthz", &[("Host", &other)], "").await;
        answer.refused(403, "HTTP_HOST_REFUSED");
    }
    let twice = [("Host", "localhost"), ("Host", "localhost")];
    let answer = door.ask("GET", "/healthz", &twice, "").await;
    answer.refused(400, "HTTP_MALFORMED");
    for broken in ["me@localhost", "a b", ""] {
        let answer = door.ask("GET", "/healthz", &[("Host", broken)], "").await;
        answer.refused(400, "HTTP_MALFORMED");
    }
    let answer = door.send(b"GET /healthz HTTP/1.0\r\n\r\n").await;
    answer.refused(400, "HTTP_MALFORMED");
    // A whole URL in the request names a host too.
    let host = format!("localhost:{port}");
    let headers = [("Host", host.as_str())];
    let answer = door.ask("GET", "http://evil.example/healthz", &headers, "").await;
    answer.refused(403, "HTTP_HOST_REFUSED");
    door.close().await;
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let door = Door::open(&[("allowed_origins", "https://board.example.org")]).await;
    let own = format!("http://{}", door.address);
    let answer = door.ask("GET", "/healthz", &[("Origin", &own)], "").await;
    assert_eq!(answer.status, 200);
    assert!(!answer.head.contains("access-control-allow-origin"));
    for other in [
        "https://evil.example",
        "null",
        "http://localhost:1",
        "https://board.example.org.evil.example",
    ] {
        let answer = door.ask("GET", "/healthz", &[("Origin", other)], "").await;
        answer.refused(403, "HTTP_ORIGIN_REFUSED");
        assert!(!answer.head.contains("access-control-allow-origin"));
    }
    door.close().await;
}

#[tokio::test]
async fn a_listed_site_may_read_answers() {
    let door = Door::open(&[("allowed_origins", "https://board.example.org/")]).await;
    let site = ("Origin", "https://board.example.org");
    let asks = [site, ("Access-Control-Request-Method", "POST")];
    let answer = door.ask("OPTIONS", "/accord/v1/keys", &asks, "").await;
    assert_eq!(answer.status, 204, "{answer:?}");
    assert!(answer.head.contains("access-control-allow-origin: https://board.example.org\r\n"));
    assert!(answer.head.contains("access-control-allow-methods: get, post"));
    assert!(answer.head.contains("authorization, content-type"));
    // Refusals too, so that a page can say what is wrong.
    let answer = door.ask("GET", "/nowhere", &[site], "").await;
    answer.refused(404, "HTTP_ROUTE_UNKNOWN");
    assert!(answer.head.contains("access-control-allow-origin: https://board.example.org"));
    assert!(answer.head.contains("vary: origin"));
    door.close().await;
}

#[tokio::test]
async fn what_a_proxy_says_is_not_believed() {
    let door = Door::open(&[]).await;
    let headers = [
        ("Host", "evil.example"),
        ("X-Forwarded-Host", "localhost"),
        ("Forwarded", "host=localhost"),
    ];
    let answer = door.ask("GET", "/healthz", &headers, "").await;
    answer.refused(403, "HTTP_HOST_REFUSED");
    door.close().await;
}
