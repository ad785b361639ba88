//! `accord check agentic` against servers: whom it judges, whom it does not, and how to run a case
//! again.

use crate::accord::accord;
use crate::memory::{Memory, Way};

/// A filter that leaves one case, which every server passes.
const ONE: &str = "id(agentic/transport/conformance-version)";

#[test]
fn a_key_that_is_missing_or_too_weak_is_no_verdict() {
    let memory = Memory::reached(Way::Url);
    let url = memory.host().url.clone();
    let said = accord(&["check", "agentic", "--url", &url], "").refused("KIT_SERVER_REFUSED");
    assert!(said.contains("answered 401; give a key with --token"), "{said}");
    for verbs in [&["read"][..], &["read", "write"], &["read", "write", "review"]] {
        let mut args = vec!["key", "create", "--label", "weak"];
        args.extend(verbs.iter().flat_map(|verb| ["--verb", *verb]));
        let weak = memory.ran(&args).stdout.trim().to_owned();
        let run = ["check", "agentic", "--url", &url, "--token", &weak];
        let said = accord(&run, "").refused("KIT_SERVER_REFUSED");
        assert!(said.contains("answered 403"), "{said}");
        assert!(said.contains("--project") && !said.contains(&weak), "{said}");
    }
}

#[test]
fn a_case_that_fails_says_how_to_run_it_again_without_its_keys() {
    let memory = Memory::reached(Way::Url);
    let (url, key) = (memory.host().url.clone(), memory.key().to_owned());
    memory.deposit("Something to read", &["--project", "shop"]);
    let mut run = vec!["check", "agentic", "--url", &url, "--token", &key];
    run.extend(["--second-token", &key, "--verbose"]);
    // A second key that reaches everything is one that the case finds at fault.
    let fails = accord(
        &[&run[..], &["--filter", "id(agentic/transport/key-of-another-project)"]].concat(),
        "",
    );
    let again = format!(
        "again: accord check agentic --url {url} --token \"$ACCORD_KEY\" \
         --second-token \"$ACCORD_SECOND_KEY\" --filter "
    );
    assert!(fails.stdout.contains(&again), "{}", fails.stdout);
    assert!(!fails.stdout.contains(&key), "{}", fails.stdout);
}

#[test]
fn a_host_of_our_own_leaves_nothing_behind() {
    let said = accord(&["check", "agentic", "--filter", ONE], "").yes();
    assert!(said.contains("PASS") && !said.contains("left behind"), "{said}");
    let memory = Memory::reached(Way::Socket);
    let url = &memory.host().url;
    let said = accord(&["check", "agentic", "--url", url, "--filter", ONE], "").yes();
    assert!(said.contains("left behind  1 project (archived): accord-check-"), "{said}");
    let command = format!("`accord project remove --conformance --url {url}`");
    assert!(said.contains(&command), "{said}");
    // The command that it names removes it, and nothing else.
    memory.ran(&["project", "create", "kept"]).yes();
    let removed = accord(&["project", "remove", "--conformance", "--url", url], "").yes();
    assert!(removed.starts_with("removed accord-check-"), "{removed}");
    let listed = memory.json(&["project", "list", "--include-archived"]);
    assert_eq!(listed["projects"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_run_that_cleans_up_leaves_nothing_or_says_what() {
    let memory = Memory::reached(Way::Url);
    let url = &memory.host().url;
    let strong = memory.key().to_owned();
    let run = ["check", "agentic", "--url", url, "--token", &strong, "--cleanup", "--filter"];
    // Cases with one project, with two, with the shared one, and with blobs.
    let cases = "id(agentic/hash/vector-minimal) | id(agentic/blobs/*) | id(agentic/facts/burst) \
                 | id(agentic/export/round-trip)";
    let said = accord(&[&run[..], &[cases]].concat(), "").yes();
    assert!(said.contains("PASS") && !said.contains("left behind"), "{said}");
    let listed = memory.json(&["project", "list", "--include-archived"]);
    assert_eq!(listed["projects"], serde_json::json!([]));
}

#[test]
fn a_program_cannot_answer_for_a_server() {
    let run = ["check", "agentic", "--command", "/bin/true"];
    let said = accord(&run, "").refused("USAGE");
    assert!(said.contains("agentic is tested over HTTP") && said.contains("--url"), "{said}");
}
