//! The cookie of a login goes to every server of this machine, because cookies have no port. A
//! server of another port, and its pages, get nothing for it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};

use accord_kit::browser::Page;
use serde_json::{Value, json};

use super::hooks::wait_until_live;
use super::with_browser;
use super::world::{World, plain_page};
use crate::server::Server;
use crate::wait::LIMIT;

/// A server of another port: it answers every request with an empty page, and keeps the head.
struct Other {
    url: String,
    heads: Receiver<String>,
}

impl Other {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, heads) = channel();
        // It ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let head = answer(stream);
                if sender.send(head).is_err() {
                    return;
                }
            }
        });
        Self { url, heads }
    }

    /// The cookie that a browser sends with the request of a page.
    fn cookie_of_page(&self) -> String {
        loop {
            let head = self.heads.recv_timeout(LIMIT).expect("a request to the other server");
            let is_page = head.starts_with("GET / ");
            let cookie = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("cookie").then(|| value.trim().to_owned())
            });
            if is_page {
                return cookie.expect("the browser sends the cookie to every port");
            }
        }
    }
}

fn answer(mut stream: TcpStream) -> String {
    let _ = stream.set_read_timeout(Some(LIMIT));
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    let body = "<!doctype html><title>Other</title><p>other</p>";
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    );
    String::from_utf8_lossy(&head).into_owned()
}

/// The headers of an upgrade to a WebSocket.
const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                       Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// The status of an upgrade, without waiting for the end of the connection.
fn upgrade(server: &Server, headers: &str) -> String {
    let mut stream = TcpStream::connect(&server.address).expect("the server listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    let address = &server.address;
    write!(stream, "GET /ws HTTP/1.1\r\nHost: {address}\r\n{UPGRADE}{headers}\r\n").expect("sent");
    let mut status = [0; 12];
    stream.read_exact(&mut status).expect("an answer");
    String::from_utf8_lossy(&status[9..]).into_owned()
}

/// What a page gets for a request: the status, or that the browser refused.
fn fetched(page: &Page<'_>, url: &str, options: &Value) -> Value {
    let fetch = format!(
        "fetch({}, {options}).then(answer => `${{answer.type}} ${{answer.status}}`)
            .catch(() => 'refused')",
        json!(url)
    );
    page.evaluate(&fetch).expect("a result")
}

/// The title that a page reads in a frame.
fn title_in_frame(page: &Page<'_>, url: &str) -> Value {
    let framed = format!(
        "new Promise(done => {{
            const frame = document.createElement('iframe');
            frame.src = {};
            frame.onload = () => {{
                let title = 'hidden';
                try {{ title = frame.contentDocument.title; }} catch {{}}
                done(title);
            }};
            document.body.append(frame);
        }})",
        json!(url)
    );
    page.evaluate(&framed).expect("a frame")
}

/// How a WebSocket of a page ends.
fn socket(page: &Page<'_>, url: &str) -> Value {
    let open = format!(
        "new Promise(done => {{
            const socket = new WebSocket({});
            socket.onopen = () => done('open');
            socket.onclose = event => done(`closed ${{event.code}}`);
        }})",
        json!(url)
    );
    page.evaluate(&open).expect("a result")
}

#[test]
fn the_cookie_alone_opens_nothing() {
    with_browser(|browser| {
        let world = World::with_keys(&[]);
        let session = world.agent().ask_for_release();
        let page = browser.private_page().expect("a tab");
        page.go(&world.link(&session)).expect("the page");
        wait_until_live(&page);
        let data = format!("/accord/v1/live/{session}/page");
        let token = format!("/accord/v1/live/{session}/token");
        let json_body = json!({"method": "POST", "body": "{}",
            "headers": {"Content-Type": "application/json"}});

        // A page of the server itself, without the second half.
        assert_eq!(fetched(&page, &data, &json!({})), "basic 401");
        assert_eq!(fetched(&page, &token, &json_body), "basic 401");
        let channel = format!("ws://{}/ws", world.server().address);
        assert_eq!(socket(&page, &channel), "closed 1006");

        // Another server gets the cookie, and replays it.
        let other = Other::start();
        page.go(&format!("{}/", other.url)).expect("the page of the other server");
        let cookie = other.cookie_of_page();
        assert!(cookie.starts_with("accord_"), "{cookie}");
        let own = &world.server().url;
        for origin in [None, Some(own), Some(&other.url)] {
            let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
            let headers = format!("Cookie: {cookie}\r\n{origin}");
            let (status, _, refused) = world.server().ask_with(&headers, "GET", &data, "");
            assert!(matches!(status, 401 | 403), "{origin:?}: {status} {refused}");
            let (status, _, refused) = world.server().ask_with(&headers, "POST", &token, "{}");
            assert!(matches!(status, 401 | 403), "{origin:?}: {status} {refused}");
            let status = upgrade(world.server(), &headers);
            assert!(matches!(status.as_str(), "401" | "403"), "{origin:?}: {status}");
            let sessions = "/accord/v1/projects/shop/live/sessions";
            let (status, _, refused) = world.server().ask_with(&headers, "GET", sessions, "");
            assert!(matches!(status, 401 | 403), "{origin:?}: {status} {refused}");
        }

        // The pages of the other server, with the cookie that the browser adds.
        page.take_observed().expect("cleared");
        for (path, options) in [(&data, json!({})), (&token, json_body)] {
            let url = format!("{own}{path}");
            for mode in ["cors", "no-cors"] {
                let mut options = options.clone();
                options["credentials"] = "include".into();
                options["mode"] = mode.into();
                let result = fetched(&page, &url, &options);
                // Without CORS a page learns nothing of an answer, not even its status.
                let nothing = if mode == "cors" { "refused" } else { "opaque 0" };
                assert_eq!(result, nothing, "{mode} {path}");
            }
        }
        assert_eq!(socket(&page, &channel), "closed 1006");
        assert_eq!(world.agent().answers(&session).len(), 0);
        page.close().expect("closed");
    });
}

/// Without keys everybody on this machine may use the server, but no page of another origin.
#[test]
fn pages_of_other_ports_get_nothing_of_a_server_without_keys() {
    with_browser(|browser| {
        let world = World::open();
        let session = world.agent().ask_for_release();
        let other = Other::start();
        let page = browser.private_page().expect("a tab");
        page.go(&format!("{}/", other.url)).expect("the page of the other server");
        let own = &world.server().url;
        let login = json!({"method": "POST", "body": "{}", "credentials": "include",
            "headers": {"Content-Type": "application/json"}});
        assert_eq!(fetched(&page, &format!("{own}/accord/v1/login"), &login), "refused");
        for path in [format!("/accord/v1/live/{session}/page"), "/accord/v1/projects".to_owned()] {
            let url = format!("{own}{path}");
            assert_eq!(fetched(&page, &url, &json!({"credentials": "include"})), "refused");
        }
        assert_eq!(socket(&page, &format!("ws://{}/ws", world.server().address)), "closed 1006");
        let headers = format!("Origin: {}\r\n", other.url);
        assert_eq!(upgrade(world.server(), &headers), "403");
        assert_eq!(upgrade(world.server(), &format!("Origin: {own}\r\n")), "101");
        // The page cannot be framed, so that no click is stolen. A page of its own origin could
        // read what it frames.
        let plain = format!("{own}/plain");
        page.intercept(vec![plain_page(&plain)]).expect("a rule");
        page.go(&plain).expect("a page");
        assert_eq!(title_in_frame(&page, &plain), "Plain");
        assert_eq!(title_in_frame(&page, &world.page(&session)), "hidden");
        let (status, head, _) = world.server().ask_with("", "GET", &format!("/live/{session}"), "");
        assert_eq!(status, 200, "{head}");
        assert!(head.contains("frame-ancestors 'none'"), "{head}");
        page.close().expect("closed");
    });
}
