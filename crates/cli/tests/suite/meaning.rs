//! Search by meaning: a host that is killed, an outage, and the command without a host.

use std::path::Path;

use serde_json::{Value, json};

use crate::accord::{Ran, run};
use crate::embedding_server::{EmbeddingServer, Mood};
use crate::memory::bare;
use crate::server::Server;
use crate::wait::{wait_for, wait_until};

const PACKAGES: &str = "/v1/projects/atlas/packages";

/// Settings that name an embeddings server, in the file of a data folder.
fn configure(data: &Path, embeddings: &EmbeddingServer, more: &str) {
    let url = embeddings.url();
    let text =
        format!("[embeddings]\nurl = \"{url}\"\nmodel = \"mini\"\nquery_timeout = \"60s\"\n{more}");
    std::fs::write(data.join("accord.toml"), text).expect("a file");
}

fn deposit(server: &Server, id: &str, title: &str) {
    let package = json!({
        "package_id": id, "project_id": "atlas", "relay_version": "0.1", "title": title,
        "status": "complete", "package_type": "standard", "review_type": "none",
        "created_at": "2026-11-15T08:00:00Z", "created_by": {"id": "writer", "type": "script"},
    });
    let (status, body) = server.ask("POST", PACKAGES, &package.to_string());
    assert_eq!(status, 201, "{body}");
}

/// The status of search by meaning.
fn status(server: &Server) -> Value {
    server.ask("GET", "/accord/v1/status", "").1["embeddings"].clone()
}

fn wait_for_vectors(server: &Server) {
    wait_until("the vectors", || {
        let status = status(server);
        status["state"] == "up" && status["waiting"] == 0
    });
}

fn found(server: &Server, query: &str) -> Value {
    let path = format!("{PACKAGES}?mode=relevant&query={query}");
    let (status, body) = server.ask("GET", &path, "");
    assert_eq!(status, 200, "{body}");
    body
}

/// How often each text was sent, without probes.
fn sent(embeddings: &EmbeddingServer) -> std::collections::BTreeMap<String, usize> {
    let mut sent = std::collections::BTreeMap::new();
    for asked in embeddings.asked() {
        for text in asked.body["input"].as_array().into_iter().flatten() {
            let text = text.as_str().expect("a text");
            if text != "accord" {
                *sent.entry(text.to_owned()).or_default() += 1;
            }
        }
    }
    sent
}

#[test]
fn a_killed_host_makes_the_missing_vectors_when_it_runs_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let embeddings = EmbeddingServer::start();
    configure(folder.path(), &embeddings, "batch = 1\n");
    let mut server = Server::start(folder.path(), &[]);
    for number in 0..30 {
        deposit(&server, &format!("pkg_{number}"), &format!("Automobile {number}"));
        if number == 14 {
            // In the middle of the queue, with a request under way.
            wait_until("some vectors", || status(&server)["made"].as_u64() >= Some(5));
            embeddings.set(Mood::Hangs);
        }
    }
    deposit(&server, "pkg_last", "The vessel");
    let made = status(&server)["made"].as_u64().expect("a number");
    assert!(made < 31, "some still wait");
    server.kill();
    drop(server);
    embeddings.set(Mood::Well);

    let server = Server::start(folder.path(), &[]);
    wait_for_vectors(&server);
    let answer = found(&server, "boat");
    assert_eq!(answer["packages"][0]["package_id"], "pkg_last", "{answer}");
    assert_eq!((&answer["x-search"], &answer["warnings"]), (&json!("hybrid"), &Value::Null));
    let sent = sent(&embeddings);
    let again = sent.iter().filter(|(text, times)| text.as_str() != "boat" && **times > 1);
    // The one whose request was under way, and one whose vector was not stored yet.
    assert!(again.clone().count() <= 2, "{:?}", again.collect::<Vec<_>>());
    assert_eq!(sent.len(), 32, "{sent:?}");
    let conformance = server.ask("GET", "/v1/conformance", "").1;
    assert_eq!(conformance["capabilities"]["semantic_search"], true);
    // An export has no vectors, and a check finds nothing wrong.
    drop(server);
    let data = folder.path().to_str().expect("text");
    let exported = run(bare(&["context", "export", "--project", "atlas", "--data", data]), "");
    assert!(!exported.stdout.contains("embedding"), "{}", exported.stdout);
    let verified = run(bare(&["context", "verify", "--data", data]), "");
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn an_outage_and_its_end_are_each_one_line_of_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut embeddings = EmbeddingServer::start();
    configure(folder.path(), &embeddings, "");
    let server = Server::start(folder.path(), &[]);
    deposit(&server, "pkg_1", "The automobile");
    wait_for_vectors(&server);
    embeddings.stop();
    deposit(&server, "pkg_2", "The vessel");
    let down = wait_for("the outage", || Some(status(&server)).filter(|it| it["state"] == "down"));
    let error = down["last_error"].as_str().expect("an error");
    assert!(error.contains("connection refused"), "{down}");
    wait_until("the count", || status(&server)["waiting"] == 1);
    for query in ["vessel", "the+vessel", "a+vessel"] {
        let answer = found(&server, query);
        assert_eq!(answer["packages"][0]["package_id"], "pkg_2");
        assert_eq!(answer["warnings"][0]["code"], "search_by_words_alone", "{answer}");
        assert_eq!(answer["x-search"], "keyword");
    }
    let path = format!("{PACKAGES}?mode=relevant&query=boat&search=semantic");
    let (refused, body) = server.ask("GET", &path, "");
    assert_eq!((refused, &body["code"]), (503, &json!("search_unavailable")), "{body}");
    let conformance = server.ask("GET", "/v1/conformance", "").1;
    assert_eq!(conformance["capabilities"]["semantic_search"], false);
    assert_eq!(metric(&server, "accord_embeddings_up"), 0.0);
    assert_eq!(metric(&server, "accord_embeddings_waiting"), 1.0);
    assert!(metric(&server, "accord_embeddings_failures_total") > 0.0);

    embeddings.start_again();
    wait_for_vectors(&server);
    assert_eq!(found(&server, "boat")["packages"][0]["package_id"], "pkg_2");
    assert_eq!(metric(&server, "accord_embeddings_up"), 1.0);
    server.signal("-TERM");
    let (code, log) = server.end();
    assert_eq!(code, Some(0));
    let lines = |part: &str| log.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines("so searches are by words alone"), 1, "{log}");
    assert_eq!(lines("the embeddings server works again"), 1, "{log}");
}

/// The value of a metric.
fn metric(server: &Server, name: &str) -> f64 {
    let text = server.text("/metrics");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} in {text}")).parse().expect("a number")
}

#[test]
fn the_command_uses_stored_vectors_without_a_host() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut embeddings = EmbeddingServer::start();
    configure(folder.path(), &embeddings, "");
    let server = Server::start(folder.path(), &[]);
    deposit(&server, "pkg_1", "The automobile");
    deposit(&server, "pkg_2", "The vessel");
    wait_for_vectors(&server);
    server.signal("-TERM");
    assert_eq!(server.end().0, Some(0));

    let pull = |query: &str, more: &[&str]| -> Ran {
        let data = folder.path().to_str().expect("text");
        let args = ["context", "pull", "--project", "atlas", "--data", data, "--query", query];
        run(bare(&[&args, more].concat()), "")
    };
    let printed = pull("boat", &["--limit", "1"]).yes();
    assert!(printed.contains("pkg_2"), "{printed}");
    let printed = pull("boat", &["--search", "keyword"]);
    assert_eq!(printed.stdout, "", "{printed:?}");
    embeddings.stop();
    let ran = pull("vessel", &[]);
    assert!(ran.stdout.contains("pkg_2") && !ran.stdout.contains("pkg_1"), "{ran:?}");
    assert!(ran.stderr.contains("warning: the embeddings server cannot be used"), "{ran:?}");
    let refused = pull("boat", &["--search", "semantic"]).refused("search_unavailable");
    assert!(refused.contains("search=keyword"), "{refused}");
}

#[test]
fn settings_of_embeddings_are_checked() {
    let show = |set: &[&str]| run(bare(&[&["config", "show"], set].concat()), "");
    let both = show(&["--set", "embeddings.url=http://127.0.0.1:1/v1"]).refused("SETTING_INVALID");
    assert!(both.contains("belong together"), "{both}");
    for (url, said) in [
        ("127.0.0.1:11434", "begins with http"),
        ("ftp://127.0.0.1/v1", "begins with http"),
        ("http://me:secret@127.0.0.1/v1", "has a user name"),
        ("http://127.0.0.1/v1?key=secret", "has a query"),
    ] {
        let set = format!("embeddings.url={url}");
        let refused = show(&["--set", &set, "--set", "embeddings.model=m"]);
        let refused = refused.refused("SETTING_INVALID");
        assert!(refused.contains(said), "{refused}");
    }
}
