//! Ids by their beginning.

use serde_json::json;

use crate::accord::run;
use crate::memory::{Memory, Way, bare};
use crate::snapshot::Transcript;

#[test]
fn the_beginning_of_an_id_is_enough_if_it_is_the_only_one() {
    for way in Way::ALL {
        let memory = Memory::reached(way);
        for id in ["plan", "plan-b", "pkg_1a2b3c", "pkg_1a9f"] {
            memory.deposit(id, &["--id", id, "--status", "draft"]);
        }
        let mut story = Transcript::default();
        let mut types = |words: &str| {
            let args: Vec<&str> = words.split(' ').collect();
            let ran = memory.ran(&args);
            story.add(words, &ran);
            ran
        };
        types("context pull pkg_1a9 --json").yes();
        types("context pull pkg_1a");
        types("context pull plan --json").yes();
        types("context pull plan-");
        types("context pull nothing");
        types("context flag pkg_1a --review human --json");
        types("context flag pkg_1a2 --review human");
        types("context complete plan-");
        types("fact assert a b c --source pkg_1a9 --json").yes();
        let session = types("session start --id-only").yes();
        let session = session.trim();
        assert_eq!(memory.json(&["session", "end", &session[..12]])["session_id"], session);
        // Each way prints the same; the filters hide what differs.
        let hash = (r#""created_at":"[^"]*"|"content_hash":"[^"]*""#, "[differs]");
        story.check_with("ids", &[hash]);
    }
}

#[test]
fn a_deposit_names_packages_by_the_beginning_of_their_ids() {
    let memory = Memory::reached(Way::Url);
    memory.deposit("old", &["--id", "pkg_1a2b3c", "--question", "who makes backups?"]);
    memory.deposit("other", &["--id", "pkg_1a9f"]);
    let links = ["--supersedes", "pkg_1a2", "--answers", "pkg_1a2#0", "--parent", "pkg_1a9"];
    memory.deposit("new", &[&["--id", "new"], &links[..]].concat());
    let package = memory.json(&["context", "pull", "new"]);
    assert_eq!(package["x-supersedes"], json!(["pkg_1a2b3c"]), "{package}");
    assert_eq!(package["x-answers"], json!([{"package_id": "pkg_1a2b3c", "index": 0}]));
    assert_eq!(package["parent_package_id"], "pkg_1a9f");
    // A package cannot be taken back, so an ambiguous beginning is refused.
    let ran =
        memory.ran(&["context", "deposit", "--title", "t", "--supersedes", "pkg_1a", "--json"]);
    assert!(ran.stdout.contains("ID_AMBIGUOUS"), "{}", ran.stdout);
}

#[test]
fn a_key_finds_only_what_it_can_see() {
    let memory = Memory::reached(Way::Url);
    memory.deposit("hidden", &["--id", "pkg_77aa", "--project", "other"]);
    memory.deposit("draft", &["--id", "pkg_77bb", "--status", "draft"]);
    memory.deposit("shown", &["--id", "pkg_77cc"]);
    let create = "key create --label l --actor agent:other --project shop --verb read";
    let key = memory.ran(&create.split(' ').collect::<Vec<_>>()).stdout;
    let mut command = bare(&["context", "pull", "pkg_77", "--url", &memory.host().url, "--json"]);
    command.env("ACCORD_KEY", key.trim());
    let found = run(command, "").yes();
    assert!(found.contains("pkg_77cc"), "{found}");
    // The owner sees all three.
    let ran = memory.ran(&["context", "pull", "pkg_77", "--json"]);
    let refusal: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(refusal["error"]["code"], "ID_AMBIGUOUS");
    assert_eq!(refusal["error"]["candidates"], json!(["pkg_77bb", "pkg_77cc"]), "in its project");
}

#[test]
fn keys_are_revoked_by_the_beginning_of_their_id() {
    let memory = Memory::new();
    let create = ["key", "create", "--new", "--label", "l", "--json"];
    let key: serde_json::Value =
        serde_json::from_str(&memory.ran(&create).stdout).expect("a document");
    let id = key["key"]["key_id"].as_str().expect("an id");
    let revoked = memory.json(&["key", "revoke", &id[..6]]);
    assert_eq!(revoked["key"]["key_id"], id);
    assert_eq!(memory.ran(&["key", "create", "--label", "m"]).code, 0);
    memory.ran(&["key", "revoke", ""]).refused("ID_AMBIGUOUS");
}
