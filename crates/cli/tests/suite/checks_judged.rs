//! `accord check` passes nobody of whom it judged nothing.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;

use crate::accord::{Ran, accord, command, run};

/// A server that answers 404 to every request, until the test ends.
fn server_without_routes() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut stream = stream;
                let read = stream.read(&mut [0; 16 * 1024]).unwrap_or_default();
                let answer = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\
                              connection: close\r\n\r\n";
                if read > 0 {
                    let _ = stream.write_all(answer.as_bytes());
                }
            });
        }
    });
    url
}

/// The last line, without the time that the run took.
fn verdict(ran: &Ran) -> String {
    let line = ran.stdout.lines().last().expect("a last line");
    let (words, rest) = line.rsplit_once(" (").expect("a time");
    format!("{words}; {}", rest.split_once(", ").expect("an exit code").1.trim_end_matches(')'))
}

#[test]
fn an_adapter_that_implements_nothing_is_not_judged() {
    let nothing = "sh -c 'read -r line; echo {\\\"status\\\":\\\"not_implemented\\\"}; exit 3'";
    for (protocol, filter) in [
        ("alx", "area(retry)"),
        ("agentxchain", "area(decision_ledger)"),
        ("aof", "area(status)"),
        ("ggui", "area(catalogs)"),
    ] {
        let args = ["check", protocol, "--command", nothing, "--filter", filter];
        let ran = accord(&args, "");
        assert_eq!(ran.code, 2, "{protocol}: {ran:?}");
        let said = verdict(&ran);
        let begins = "NOT JUDGED: no required case was judged (KIT_NOTHING_JUDGED), 0 of ";
        assert!(said.starts_with(begins), "{protocol}: {said}");
        let report = accord(&[&args[..], &["--format", "json"]].concat(), "");
        let report: Value = serde_json::from_str(&report.stdout).expect("a report");
        let summary = &report["summary"];
        assert_eq!(
            (&summary["verdict"], &summary["overall"]),
            (&"not_judged".into(), &"error".into())
        );
        assert_eq!((&summary["exit_code"], &summary["judged"]["judged"]), (&2.into(), &0.into()));
        assert_eq!(summary["judged"]["required"], summary["required"]["not_implemented"]);
        let junit = accord(&[&args[..], &["--format", "junit"]].concat(), "").stdout;
        assert!(junit.contains("no required case was judged"), "{junit}");
        assert!(junit.contains("KIT_NOTHING_JUDGED"), "{junit}");
    }
}

#[test]
fn a_server_that_has_nothing_does_not_pass() {
    let url = server_without_routes();
    for protocol in ["ggui", "agentic"] {
        let ran = accord(&["check", protocol, "--url", &url], "");
        let said = verdict(&ran);
        assert_eq!(ran.code, 2, "{protocol}: {said}\n{}", ran.stdout);
        assert!(said.starts_with("NOT JUDGED: "), "{protocol}: {said}");
    }
}

#[test]
fn an_adapter_that_only_says_so_does_not_pass() {
    let says = "sh -c 'cat >/dev/null; echo {\\\"status\\\":\\\"pass\\\"}'";
    let args = ["check", "alx", "--command", says, "--filter", "op(check_aliases)"];
    let ran = accord(&args, "");
    assert_eq!(
        verdict(&ran),
        "FAIL: 7 required cases fail, 0 of 7 required cases judged, 7 self-reported; exit code 1"
    );
    assert!(ran.stdout.contains("gives no `actual` to compare"), "{ran:?}");
    let allowed = accord(&[&args[..], &["--allow-self-reported"]].concat(), "");
    assert_eq!(
        verdict(&allowed),
        "PASS: 0 of 7 required cases judged, 7 self-reported; exit code 0"
    );
}

/// The page says how an adapter is written. A newcomer copies it.
#[test]
fn the_example_of_the_page_passes_its_required_cases() {
    if run(Command::new("python3"), "").code != 0 {
        assert!(std::env::var_os("CI").is_none(), "python3 is missing");
        eprintln!("skipped: no python3");
        return;
    }
    let page = include_str!("../../../../docs/kit.md");
    let (_, example) = page.split_once("```python\n").expect("an example");
    let (example, rest) = example.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("my_adapter.py"), example).expect("written");
    let line = rest.lines().find_map(|line| line.strip_prefix("$ accord ")).expect("a command");
    let words = shell_words::split(line).expect("words");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut check = command(&words);
    check.current_dir(folder.path());
    let ran = run(check, "");
    assert_eq!(verdict(&ran), "PASS: 7 of 7 required cases judged; exit code 0", "{ran:?}");
    // Without the filter, the line says how little that is.
    let mut check = command(&[&words[..words.len() - 1], &["area(alias)"]].concat());
    check.current_dir(folder.path());
    let said = verdict(&run(check, ""));
    assert!(said.starts_with("PASS: 7 of ") && !said.contains("7 of 7 "), "{said}");
}
