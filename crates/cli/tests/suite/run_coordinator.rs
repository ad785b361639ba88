//! `accord run coordinator`, as a person types it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::accord::{Ran, accord, program};

/// The workspace that the documentation makes, by the words of the documentation.
struct Shop {
    folder: TempDir,
}

impl Shop {
    fn new() -> (Self, String) {
        let shop = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coordinator.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let script = page.split("```sh\n").nth(1).expect("commands");
        let script = script.split("```").next().expect("their end");
        let programs = Path::new(program())
            .parent()
            .expect("a folder")
            .to_string_lossy();
        let path = std::env::var("PATH").expect("a path");
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-e", "-c", script])
            .current_dir(shop.folder.path())
            .env("PATH", format!("{programs}:{path}"));
        for name in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{name}_NAME"), "T");
            shell.env(format!("GIT_{name}_EMAIL"), "t@example.org");
        }
        let output = shell.output().expect("a shell");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words}");
        (shop, String::from_utf8(output.stdout).expect("text"))
    }

    fn root(&self) -> PathBuf {
        self.folder
            .path()
            .join("shop")
            .canonicalize()
            .expect("a place")
    }

    fn coordinator(&self, words: &[&str]) -> Ran {
        let root = self.root();
        let place = ["--workspace", root.to_str().expect("text")];
        accord(&[&["run", "coordinator"], words, &place].concat(), "")
    }

    fn change(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let path = self.root().join(path);
        let text = std::fs::read_to_string(&path).expect("a document");
        let mut document: Value = serde_json::from_str(&text).expect("JSON");
        change(&mut document);
        std::fs::write(path, document.to_string()).expect("it is written");
    }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn the_page_makes_an_initiative_and_the_status_says_what_waits_for_whom() {
    let (shop, said) = Shop::new();
    assert!(said.contains("a run was begun"), "{said}");
    assert!(said.contains("as pm, for plan"), "{said}");
    let status = shop.coordinator(&["status"]).yes();
    assert!(status.contains("waits for api: repo_busy"), "{status}");
    assert!(status.contains("all_repos_accepted"), "{status}");
    let root = shop.root();
    // The next thing to type is in the repository that works.
    let api = format!("--repo {}", root.join("api").display());
    assert!(said.contains(&api), "{said}");
    let busy = shop.coordinator(&["step"]).refused("nothing_to_dispatch");
    assert!(busy.contains("plan: repo_busy"), "{busy}");
    let refusal = shop.coordinator(&["step", "--json"]);
    assert_eq!(refusal.code, 2);
    let refusal = json(&refusal.stdout);
    assert_eq!(refusal["code"], "nothing_to_dispatch");
    assert_eq!(refusal["details"]["obstacles"][0]["repo_id"], "api");

    let document = json(&shop.coordinator(&["status", "--json"]).yes());
    assert_eq!(document["state"]["status"], "active");
    assert_eq!(document["repos"][0]["status"], "active");
    assert_eq!(document["workstreams"][0]["obstacle"], "repo_busy");
    assert_eq!(document["divergence"], Value::Array(Vec::new()));

    accord(
        &[
            "run",
            "escalate",
            "--reason",
            "stop",
            "--repo",
            root.join("api").to_str().unwrap(),
        ],
        "",
    )
    .yes();
    let blocked = json(&shop.coordinator(&["status", "--json"]).yes());
    assert_eq!(
        blocked["divergence"][0]["kind"],
        "repo_blocked_unexpectedly"
    );
    let command = blocked["next"][0]["command"].as_str().unwrap();
    assert_eq!(command, format!("accord run resolve {api}"));
}

#[test]
fn a_repository_that_went_its_own_way_is_told_and_mended() {
    let (shop, _) = Shop::new();
    let same = shop.coordinator(&["resync"]).yes();
    assert!(same.contains("as the initiative knows them"), "{same}");
    shop.change("web/.agentxchain/state.json", |state| {
        state["run_id"] = "run_other".into();
    });
    let seen = json(&shop.coordinator(&["resync", "--dry-run", "--json"]).yes());
    assert_eq!(seen["left"][0]["kind"], "run_id_mismatch");
    let blocked = shop.coordinator(&["step"]).refused("coordinator_diverged");
    assert!(blocked.contains("RECOVERY_REPORT.md"), "{blocked}");
    let status = shop.coordinator(&["status"]).yes();
    assert!(status.contains("web: run_id_mismatch"), "{status}");
    assert!(status.contains("accord run coordinator resync"), "{status}");
    shop.coordinator(&["resync"])
        .refused("coordinator_diverged");
    let report = shop
        .root()
        .join(".agentxchain/multirepo/RECOVERY_REPORT.md");
    std::fs::write(report, "## Trigger\nx\n## Impact\nx\n## Mitigation\nx\n").unwrap();
    let mended = shop.coordinator(&["resync"]).yes();
    assert!(mended.contains("the initiative goes on"), "{mended}");
    shop.coordinator(&["approve-gate"])
        .refused("invalid_state_transition");
}

#[test]
fn a_folder_without_an_initiative_says_how_to_begin() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let words = ["run", "coordinator", "status", "--workspace", place];
    let missing = accord(&words, "").refused("invalid_coordinator_config");
    assert!(missing.contains("agentxchain-multi.json"), "{missing}");
}
