//! MCP over streamable HTTP: the real host, as an MCP client reaches it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use crate::accord::run;
use crate::memory::{Memory, Way, bare};
use crate::server::Server;
use crate::wait::LIMIT;

/// A client with an MCP session.
struct Client<'a> {
    address: &'a str,
    key: Option<&'a str>,
    session: String,
}

impl<'a> Client<'a> {
    fn begin(address: &'a str, key: Option<&'a str>) -> Self {
        let mut client = Self { address, key, session: String::new() };
        let begin = json!({
            "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "c", "version": "1"}}
        });
        let (head, body) = client.send("POST", &begin.to_string());
        assert!(head.starts_with("HTTP/1.1 200"), "{head}{body}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        client.session = session.expect("a session").to_owned();
        client
    }

    fn call(&self, id: u64, tool: &str, arguments: &Value) -> (String, Value) {
        let call = json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments}
        });
        let (head, body) = self.send("POST", &call.to_string());
        (head, serde_json::from_str(&body).unwrap_or_else(|_| panic!("not JSON: {body}")))
    }

    fn open(&self, method: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        let mut more = String::new();
        if !self.session.is_empty() {
            more = format!("Mcp-Session-Id: {}\r\n", self.session);
        }
        if let Some(key) = self.key {
            more.push_str(&format!("Authorization: Bearer {key}\r\n"));
        }
        write!(
            stream,
            "{method} /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{more}Content-Length: {}\r\n\r\n\
             {body}",
            self.address,
            body.len()
        )
        .expect("it reads");
        stream
    }

    fn send(&self, method: &str, body: &str) -> (String, String) {
        let mut answer = String::new();
        self.open(method, body).read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        (head.to_owned(), body.to_owned())
    }
}

#[test]
fn a_session_that_is_deleted_ends_what_it_began() {
    let memory = Memory::reached(Way::Url);
    let client = Client::begin(&memory.host().address, Some(memory.key()));
    let arguments = json!({"project_id": "shop", "actor": "agent:ada"});
    client.call(2, "memory_session_start", &arguments);
    assert!(memory.json(&["session", "list"])["sessions"][0]["ended_at"].is_null());
    let (head, _) = client.send("DELETE", "");
    assert!(head.starts_with("HTTP/1.1 204"), "{head}");
    let listed = memory.json(&["session", "list"]);
    assert!(listed["sessions"][0]["ended_at"].is_string(), "{listed}");
    let (head, refused) = client.call(3, "memory_projects", &json!({}));
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
    assert_eq!(refused["error"]["code"], "MCP_SESSION_UNKNOWN");
}

#[test]
fn the_stream_of_a_revoked_key_ends() {
    let memory = Memory::reached(Way::Url);
    let created =
        memory.json(&["key", "create", "--label", "gone", "--verb", "write", "--verb", "read"]);
    let key = created["secret"].as_str().expect("a key").to_owned();
    let client = Client::begin(&memory.host().address, Some(&key));
    let arguments = json!({"project_id": "shop", "actor": "agent:ada"});
    client.call(2, "memory_session_start", &arguments);
    let mut stream = client.open("GET", "");
    let mut first = [0; 12];
    stream.read_exact(&mut first).expect("it answers");
    assert_eq!(&first, b"HTTP/1.1 200");
    let id = created["key"]["key_id"].as_str().expect("an id");
    assert_eq!(memory.ran(&["key", "revoke", id]).code, 0);
    let revoked = Instant::now();
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("the stream ends");
    // A keep-alive comment every 15 seconds would show that it did not end.
    assert!(!rest.contains("\n:"), "{rest:?} after {:?}", revoked.elapsed());
    // The session that it began has ended, too.
    let listed = memory.json(&["session", "list"]);
    assert!(listed["sessions"][0]["ended_at"].is_string(), "{listed}");
}

#[test]
fn calls_with_one_id_at_a_time_are_all_answered() {
    let memory = Memory::reached(Way::Url);
    let client = Client::begin(&memory.host().address, Some(memory.key()));
    let fact = json!({"subject": "s", "predicate": "p", "value": "v", "project_id": "shop"});
    let (done, refused) = std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..120).map(|_| scope.spawn(|| client.call(7, "memory_fact_assert", &fact))).collect();
        let mut counts = (0, 0);
        for call in calls {
            let (head, answer) = call.join().expect("an answer");
            if head.starts_with("HTTP/1.1 200") {
                assert_eq!(answer["result"]["isError"], false, "{answer}");
                counts.0 += 1;
            } else {
                assert!(head.starts_with("HTTP/1.1 409"), "{head}");
                assert_eq!(answer["error"]["code"], "MCP_DUPLICATE_ID", "{answer}");
                counts.1 += 1;
            }
        }
        counts
    });
    assert!(done >= 1 && done + refused == 120, "{done} {refused}");
    let (_, answer) = client.call(7, "memory_facts", &json!({"project_id": "shop"}));
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[test]
fn three_mebibytes_are_one_document() {
    let memory = Memory::reached(Way::Url);
    let client = Client::begin(&memory.host().address, Some(memory.key()));
    let body = "information é ".repeat(1_600_000 / 15);
    for _ in 0..2 {
        let arguments = json!({"project_id": "shop", "title": "Large", "content_md": body});
        let (_, receipt) = client.call(2, "memory_deposit", &arguments);
        assert_eq!(receipt["result"]["isError"], false, "{receipt}");
    }
    let arguments = json!({"project_id": "shop", "limit": 2, "max_tokens": 1_000_000});
    let (head, answer) = client.call(3, "memory_pull", &arguments);
    assert!(head.contains("content-type: application/json"), "{head}");
    let text = answer["result"]["content"][0]["text"].as_str().expect("a text");
    assert!(text.len() > 3 << 20, "{}", text.len());
    let list: Value = serde_json::from_str(text).expect("JSON");
    assert!(list["packages"][1]["content_md"] == body);
}

#[test]
fn a_host_speaks_mcp_over_http_and_ends_with_a_stream_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let served = Server::start(folder.path(), &["--set", "limits.shutdown_timeout=60m"]);
    let address = served.url.strip_prefix("http://").expect("no TLS").to_owned();
    let begin = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"}}
    })
    .to_string();
    let (head, body) = http(&address, &address, None, &begin);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(body.contains("\"serverInfo\""), "{body}");
    let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    let session = session.expect("a session").to_owned();
    // The guard stands before this door as before any other.
    let (head, body) = http(&address, "evil.example", None, &begin);
    assert!(head.starts_with("HTTP/1.1 403") && body.contains("HTTP_HOST_REFUSED"), "{head}{body}");
    let start = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "memory_session_start", "arguments": {"project_id": "shop"}}
    });
    http(&address, &address, Some(&session), &start.to_string());
    let call = json!({
        "jsonrpc": "2.0", "id": 3, "method": "tools/call",
        "params": {"name": "memory_deposit",
            "arguments": {"project_id": "shop", "title": "Over HTTP"}}
    });
    let (_, body) = http(&address, &address, Some(&session), &call.to_string());
    assert!(body.contains("pkg_"), "{body}");

    let mut stream = TcpStream::connect(&address).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    write!(
        stream,
        "GET /mcp/memory HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\
         Mcp-Session-Id: {session}\r\n\r\n"
    )
    .expect("it reads");
    let mut first = [0; 12];
    stream.read_exact(&mut first).expect("it answers");
    assert_eq!(&first, b"HTTP/1.1 200");
    // When the server ends, so does the stream.
    served.signal("-TERM");
    assert_eq!(served.end().0, Some(0));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).expect("the stream ends");
    // So has the session that was left open.
    let data = folder.path().to_str().expect("text");
    let list = bare(&["session", "list", "--data", data, "--project", "shop", "--json"]);
    let listed: Value = serde_json::from_str(&run(list, "").stdout).expect("JSON");
    assert!(listed["sessions"][0]["ended_at"].is_string(), "{listed}");
}

/// Posts a message to `/mcp/memory`.
fn http(address: &str, host: &str, session: Option<&str>, body: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a limit");
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    write!(
        stream,
        "POST /mcp/memory HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}
