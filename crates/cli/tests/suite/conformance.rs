//! `accord conformance check`, `accord verify protocol` and `accord check --target`: flags, reports
//! and exit codes, with implementations that are a few lines of shell or a scripted server.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use accord_kit::Corpus;
use serde_json::{Value, json};

use crate::accord::{Ran, accord};
use crate::snapshot;

const PASS: &str = r#"echo '{"status":"pass","actual":null}'"#;
const GAP: &str = r#"echo '{"status":"not_implemented","message":"not yet"}'; exit 3"#;
const FAIL: &str = r#"echo '{"status":"fail","actual":{"result":"no"}}'; exit 1"#;
const LIE: &str = r#"echo '{"status":"pass","actual":{"result":"no"}}'"#;

/// An implementation in a folder, beside two fixtures of its own.
struct Implementation(tempfile::TempDir);

impl Implementation {
    fn new(script: &str) -> Self {
        let this = Self(tempfile::tempdir().expect("a folder"));
        this.put("adapter", &format!("#!/bin/sh\nread -r fixture\n{script}\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(this.path("adapter"), mode).expect("executable");
        this.put(CAPABILITIES, &capabilities("stdio-fixture-v1").to_string());
        for (id, tier, surface) in [("SM-1", 1, "state_machine"), ("HA-1", 2, "hook_audit")] {
            let fixture = json!({
                "fixture_id": id, "tier": tier, "surface": surface, "description": "It holds.",
                "type": "validate", "setup": {}, "input": {"operation": "look", "args": {}},
                "expected": {"result": "ok"},
            });
            this.put(&format!("fixtures/{tier}/{id}.json"), &fixture.to_string());
        }
        this
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn root(&self) -> String {
        text(self.0.path())
    }

    /// Judges it by its own fixtures.
    fn judged(&self, more: &[&str]) -> Ran {
        self.judged_by(["conformance", "check"], more)
    }

    fn judged_by(&self, name: [&str; 2], more: &[&str]) -> Ran {
        let (root, fixtures) = (self.root(), text(&self.path("fixtures")));
        let args = ["--target", &root, "--fixtures", &fixtures];
        accord(&[&name[..], &args[..], more].concat(), "")
    }
}

#[test]
fn both_names_of_the_command_do_the_same() {
    let implementation = Implementation::new(FAIL);
    for format in ["text", "json"] {
        let timeless = |name| {
            let ran = implementation.judged_by(name, &["--tier", "3", "--format", format]);
            let lines = ran.stdout.lines().filter(|line| !line.contains("\"timestamp\""));
            (ran.code, lines.collect::<String>())
        };
        let one = timeless(["conformance", "check"]);
        assert_eq!(one.0, 1);
        assert_eq!(one, timeless(["verify", "protocol"]));
    }
}

fn capabilities(protocol: &str) -> Value {
    json!({
        "implementation": "tide", "protocol_version": "v7", "tiers": [1, 2],
        "adapter": {"protocol": protocol, "command": ["./adapter"]},
        "surfaces": {"state_machine": true, "hook_audit": true, "coordinator": false},
    })
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("text").to_owned()
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).expect("one document")
}

#[test]
fn verdicts_become_the_exit_codes_of_the_protocol() {
    for (script, code, overall) in [
        (PASS, 0, "pass"),
        (GAP, 0, "pass"),
        (FAIL, 1, "fail"),
        (LIE, 2, "error"),
        ("echo nonsense", 2, "error"),
        (r#"echo '{"status":"pass"}'; exit 3"#, 2, "error"),
    ] {
        let ran = Implementation::new(script).judged(&["--tier", "2", "--format", "json"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{script}");
        let report = document(&ran);
        assert_eq!(report["overall"], overall, "{script}");
        assert_eq!(report["tier_requested"], 2);
        let results = report["results"].as_object().expect("tiers");
        assert_eq!(Vec::from_iter(results.keys()), ["tier_1", "tier_2"]);
        // Two spaces a level, as people who compare such files expect.
        assert!(ran.stdout.starts_with("{\n  \"implementation\": \"tide\",\n"), "{}", ran.stdout);
    }
}

#[test]
fn an_error_outranks_a_failure() {
    let script = format!("case \"$fixture\" in *SM-1*) {LIE};; *) {FAIL};; esac");
    let ran = Implementation::new(&script).judged(&["--tier", "2", "--format", "json"]);
    assert_eq!((ran.code, &document(&ran)["overall"]), (2, &json!("error")));
}

#[test]
fn the_first_tier_is_what_is_asked_for_where_nothing_is_said() {
    let ran = Implementation::new(PASS).judged(&[]);
    let said = ran.yes();
    let rule = "─".repeat(44);
    let heading = format!("\nAgentXchain Protocol Conformance\n{rule}\nTarget: ");
    assert!(said.starts_with(&heading), "{said}");
    let rest =
        "\nImplementation: tide\nTier requested: 1\n\nOverall: PASS\ntier_1: pass (1/1 passed)\n";
    assert!(said.ends_with(rest), "{said}");
}

#[test]
fn a_tier_that_is_not_claimed_is_skipped() {
    let ran = Implementation::new(PASS).judged(&["--tier", "3"]);
    let said = ran.yes();
    assert!(said.ends_with("tier_3: skipped (Target does not claim Tier 3)\n"), "{said}");
}

#[test]
fn a_surface_that_is_not_claimed_is_refused_with_those_that_are() {
    let implementation = Implementation::new(PASS);
    for surface in ["coordinator", "moon"] {
        let ran = implementation.judged(&["--tier", "3", "--surface", surface]);
        let said = ran.refused("KIT_SURFACE_UNCLAIMED");
        assert!(said.contains("it claims state_machine,"), "{said}");
        assert!(said.contains("hook_audit"), "{said}");
    }
    let ran = implementation.judged(&["--surface", "moon", "--format", "json"]);
    let report = document(&ran);
    assert_eq!((ran.code, &report["overall"]), (2, &json!("error")));
    assert_eq!(report.as_object().map(serde_json::Map::len), Some(2));
    let message = report["message"].as_str().expect("a message");
    snapshot::check("a_surface_that_is_not_claimed_is_refused_with_those_that_are", message);
    assert!(ran.stderr.starts_with("KIT_SURFACE_UNCLAIMED"), "{}", ran.stderr);
}

#[test]
fn a_run_of_nothing_says_so() {
    let ran = Implementation::new(PASS).judged(&["--tier", "1", "--surface", "hook_audit"]);
    assert_eq!(ran.code, 0);
    snapshot::check("a_run_of_nothing_says_so", &ran.stdout);
    snapshot::check("a_run_of_nothing_says_so-2", &ran.stderr);
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let remote = ["--remote", "http://127.0.0.1:9"];
    for args in [
        &["--tier", "0"][..],
        &["--tier", "4"],
        &["--tier", "one"],
        &["--token", "t"],
        &["--timeout", "10"],
        &["--target", ".", "--token", "t"],
        &["--target", ".", "--timeout", "10"],
        &[remote[0], remote[1], "--timeout", "0"],
        &[remote[0], remote[1], "--timeout", "-5"],
        &[remote[0], remote[1], "--target", "."],
        &["--format", "junit"],
    ] {
        for name in [["conformance", "check"], ["verify", "protocol"]] {
            accord(&[&name[..], args].concat(), "").refused("USAGE");
            // Who reads documents gets one, whatever is wrong.
            if args[0] == "--format" {
                continue;
            }
            for json in [&["--format", "json"][..], &["--format=json"]] {
                let ran = accord(&[&name[..], json, args].concat(), "");
                let report = document(&ran);
                assert_eq!((ran.code, &report["overall"]), (2, &json!("error")), "{args:?}");
                assert_eq!(report.as_object().map(serde_json::Map::len), Some(2));
                let message = report["message"].as_str().expect("a message");
                let is_one_line = !message.is_empty() && !message.contains('\n');
                assert!(is_one_line && !message.contains("Usage"), "{message}");
                let flag = args.iter().rfind(|arg| arg.starts_with("--"));
                assert!(message.contains(flag.expect("a flag")), "{args:?}: {message}");
                assert!(ran.stderr.starts_with("USAGE"), "{}", ran.stderr);
            }
        }
    }
    // Other commands answer with an ErrorEnvelope.
    let ran = accord(&["check", "--format", "json", "--moon"], "");
    assert_eq!((ran.code, &document(&ran)["error"]["code"]), (2, &json!("USAGE")));
}

#[test]
fn values_that_cannot_be_used_are_answered_with_those_that_can() {
    let url = "http://127.0.0.1:9";
    let remote = ["conformance", "check", "--remote", url];
    let kit = ["check", "agentxchain", "--remote", url];
    for (args, more, words) in [
        (&["conformance", "check"][..], ["--tier", "abc"], "expected 1, 2 or 3"),
        (&["conformance", "check"], ["--tier", "4"], "expected 1, 2 or 3"),
        (&remote, ["--token", "a\nb"], "visible ASCII characters"),
        (&kit, ["--token", "a\u{1}b"], "visible ASCII characters"),
        (&["conformance", "serve"], ["--listen", "harbour:0"], "such as 127.0.0.1:7171"),
        (&["check", "agentxchain"], ["--tier", "3"], "--level 3"),
        (&["check", "agentxchain"], ["--surface", "history"], "--filter 'area(NAME)'"),
    ] {
        let ran = accord(&[args, &more].concat(), "");
        assert_eq!(ran.code, 2, "{more:?}");
        assert!(ran.stderr.starts_with("USAGE\n"), "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{more:?}: {}", ran.stderr);
    }
    let help = accord(&["conformance", "check", "--help"], "");
    let codes = help.stdout.lines().rev().take(3).collect::<Vec<_>>();
    for (code, line) in codes.iter().rev().enumerate() {
        assert!(line.starts_with(&format!("  {code}  ")), "{line}");
        assert!(line.len() < 80, "{line}");
    }
}

#[test]
fn what_is_left_out_of_a_folder_is_reported() {
    let implementation = Implementation::new(PASS);
    let weaker = json!({
        "fixture_id": "SM-2", "tier": 1, "surface": "state_machine", "description": "It holds.",
        "type": "validate", "setup": {}, "input": {"operation": "look", "args": {}},
        "expected": {"result": "ok"}, "x-case": {"strength": "should"},
    });
    implementation.put("fixtures/1/SM-2.json", &weaker.to_string());
    implementation.put("fixtures/.old/SM-3.json", "no fixture");
    let ran = implementation.judged(&[]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    snapshot::check("what_is_left_out_of_a_folder_is_reported", &ran.stdout);
    assert_eq!(
        ran.stderr,
        "left out of the folder's fixtures: 1 of another strength than must, \
         1 with a name that begins with a dot\n"
    );
}

#[test]
fn what_cannot_be_judged_is_reported_in_either_format() {
    let nothing = tempfile::tempdir().expect("a folder");
    let args = ["conformance", "check", "--target", &text(nothing.path())];
    let said = accord(&args, "").refused("KIT_CAPABILITIES_UNREADABLE");
    snapshot::check("what_cannot_be_judged_is_reported_in_either_format", &said);
    let ran = accord(&[&args[..], &["--format", "json"]].concat(), "");
    assert_eq!((ran.code, &document(&ran)["overall"]), (2, &json!("error")));

    let implementation = Implementation::new(PASS);
    implementation.put("fixtures/9.json", r#"{"fixture_id":"X"}"#);
    let said = implementation.judged(&[]).refused("KIT_CASE_INVALID");
    snapshot::check("what_cannot_be_judged_is_reported_in_either_format-2", &said);
    std::fs::remove_dir_all(implementation.path("fixtures")).expect("removed");
    implementation.judged(&[]).refused("KIT_CORPUS_UNREADABLE");

    let implementation = Implementation::new(PASS);
    implementation.put(CAPABILITIES, &capabilities("http-fixture-v1").to_string());
    let said = implementation.judged(&[]).refused("KIT_CAPABILITIES_INVALID");
    snapshot::check("what_cannot_be_judged_is_reported_in_either_format-3", &said);
    std::fs::remove_file(implementation.path("adapter")).expect("removed");
    implementation.put(CAPABILITIES, &capabilities("stdio-fixture-v1").to_string());
    implementation.judged(&[]).refused("KIT_ADAPTER_NOT_FOUND");
}

#[test]
fn the_fixtures_that_came_with_accord_need_no_folder() {
    let implementation = Implementation::new(GAP);
    let root = implementation.root();
    let args = ["conformance", "check", "--target", &root, "--tier", "2", "--format", "json"];
    let report = document(&accord(&args, ""));
    let protocol = Corpus::embedded_protocol("agentxchain").expect("sound");
    let origin = format!("embedded:agentxchain@sha256:{}", protocol.digest());
    assert_eq!(report["fixture_root"], origin);
    let run = |tier: &str| report["results"][tier]["fixtures_run"].as_u64().expect("a count");
    let binding = protocol.binding();
    let of_tier = |tier| binding.cases().iter().filter(|case| case.tier == Some(tier)).count();
    assert_eq!(run("tier_1") as usize, of_tier(1));
    assert_eq!(run("tier_2") as usize, of_tier(2));
}

/// Answers so many requests, one a connection, and gives what it was asked.
fn serve(requests: usize, result: &'static str) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/tide", listener.local_addr().expect("an address"));
    let served = std::thread::spawn(move || {
        let exchanges = listener.incoming().take(requests);
        exchanges.map(|stream| exchange(&stream.expect("a connection"), result)).collect()
    });
    (url, served)
}

/// One exchange: the request's first line and its key.
fn exchange(mut stream: &std::net::TcpStream, result: &str) -> String {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let found = lines.iter().filter_map(|line| line.split_once(": "));
        let mut found = found.filter(|(given, _)| given.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    let length = header("content-length").parse().unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let answer = match lines[0].starts_with("GET") {
        true => capabilities("http-fixture-v1").to_string(),
        false => result.to_owned(),
    };
    let length = answer.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{answer}"
    )
    .expect("answered");
    format!("{} {}", lines[0], header("authorization"))
}

#[test]
fn a_server_is_judged_by_its_url() {
    let fixtures = Implementation::new(PASS);
    let fixtures = text(&fixtures.path("fixtures"));
    for (result, code) in [(r#"{"status":"pass"}"#, 0), (r#"{"status":"fail"}"#, 1), ("{}", 2)] {
        let (url, served) = serve(3, result);
        let args = [
            "conformance",
            "check",
            "--remote",
            &url,
            "--token",
            "k1",
            "--timeout",
            "20000",
            "--tier",
            "2",
            "--fixtures",
            &fixtures,
            "--format",
            "json",
        ];
        let ran = accord(&args, "");
        assert_eq!(ran.code, code, "{}", ran.stdout);
        let report = document(&ran);
        assert_eq!((&report["remote"], &report["target_root"]), (&json!(url), &Value::Null));
        assert_eq!(
            served.join().expect("served"),
            [
                "GET /tide/conform/capabilities HTTP/1.1 Bearer k1",
                "POST /tide/conform/execute HTTP/1.1 Bearer k1",
                "POST /tide/conform/execute HTTP/1.1 Bearer k1",
            ]
        );
    }
    // Nobody listens there any more.
    let (url, served) = serve(0, "");
    served.join().expect("served");
    let ran = accord(&["verify", "protocol", "--remote", &url], "");
    ran.refused("KIT_SERVER_UNREACHABLE");
}

#[test]
fn the_kit_judges_the_same_with_its_own_filters_baselines_and_reports() {
    let implementation = Implementation::new(FAIL);
    let (root, baseline) = (implementation.root(), text(&implementation.path("known.json")));
    let run = |more: &[&str]| {
        let args = ["check", "agentxchain", "--target", &root, "--filter", "area(history)"];
        accord(&[&args[..], more].concat(), "")
    };
    let ran = run(&["--format", "json"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let report = document(&ran);
    assert_eq!(report["run"]["adapter"]["driver"], "stdio-fixture-v1");
    assert_eq!(report["run"]["case_timeout_ms"], 30_000);
    assert_eq!(report["run"]["workers"], 1);
    let cases = report["cases"].as_array().expect("cases");
    assert!(cases.iter().all(|case| case["verdict"] == "fail") && !cases.is_empty());
    assert_eq!(run(&["--write-baseline", &baseline, "--reason", "not built"]).code, 1);
    assert_eq!(run(&["--baseline", &baseline]).code, 0);
    let said = run(&[]).stdout;
    assert!(said.contains(&format!("again: accord check agentxchain --target {root} ")), "{said}");

    // Tier 3 is not claimed: nothing of it is run, and a run of nothing is no pass.
    let args = ["check", "agentxchain", "--target", &root, "--filter", "level(3)"];
    assert_eq!(accord(&args, "").code, 2);
    let strict = ["check", "agentxchain", "--target", &root, "--profile", "strict"];
    let said = accord(&strict, "").stdout;
    let mut again = said.lines().filter(|line| line.contains("again: "));
    snapshot::check(
        "the_kit_judges_the_same_with_its_own_filters_baselines_and_reports",
        again.next().expect("a failed case"),
    );

    let remote = ["check", "agentxchain", "--remote"];
    let (url, served) = serve(2, r#"{"status":"pass"}"#);
    let only = format!("id({})", first_case());
    let ran = accord(&[&remote[..], &[&url, "--token", "k2", "--filter", &only]].concat(), "");
    snapshot::check(
        "the_kit_judges_the_same_with_its_own_filters_baselines_and_reports-2",
        &ran.stdout,
    );
    // It says so and shows nothing, which the protocol's verifier accepts.
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert_eq!(served.join().expect("served").len(), 2);

    for args in [
        &["check", "alx", "--target", &root][..],
        &["check", "alx", "--remote", "http://127.0.0.1:9"],
        &["check", "agentxchain", "--target", &root, "--command", "x"],
        &["check", "agentxchain", "--target", &root, "--remote", "http://127.0.0.1:9"],
        &["check", "agentxchain", "--remote", "http://127.0.0.1:9", "--url", "http://127.0.0.1:9"],
        &["check", "agentxchain", "--token", "k"],
    ] {
        accord(args, "").refused("USAGE");
    }
}

/// The first case of the first tier.
fn first_case() -> String {
    let list = accord(&["check", "agentxchain", "--list", "--level", "1"], "").yes();
    list.split_whitespace().next().expect("a case").to_owned()
}

pub(crate) const CAPABILITIES: &str = ".agentxchain-conformance/capabilities.json";
