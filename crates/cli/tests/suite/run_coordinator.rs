//! `accord run coordinator`, as a person types it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::accord::{Ran, accord, command, path_with_accord, run};

/// The workspace that the documentation makes, by the words of the documentation.
pub(crate) struct Shop {
    folder: TempDir,
}

impl Shop {
    /// With an initiative that has begun.
    pub(crate) fn new() -> (Self, String) {
        Self::after(1)
    }

    /// After the first commands of the page, so many blocks of them.
    fn after(blocks: usize) -> (Self, String) {
        let shop = Self { folder: tempfile::tempdir().expect("a folder") };
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coordinator.md");
        let page = std::fs::read_to_string(page).expect("the page");
        let script: Vec<&str> = page
            .split("```sh\n")
            .skip(1)
            .take(blocks)
            .map(|block| block.split("```").next().expect("its end"))
            .collect();
        let script = script.join("\n");
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-e", "-c", &script])
            .current_dir(shop.folder.path())
            .env("PATH", path_with_accord());
        for name in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{name}_NAME"), "T");
            shell.env(format!("GIT_{name}_EMAIL"), "t@example.org");
        }
        let ran = run(shell, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        (shop, ran.stdout)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("shop").canonicalize().expect("a place")
    }

    fn coordinator(&self, words: &[&str]) -> Ran {
        let root = self.root();
        let place = ["--workspace", root.to_str().expect("text")];
        let mut command = command(&[&["run", "coordinator"], words, &place].concat());
        command.env("ACCORD_ACTOR", "human:lead");
        run(command, "")
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
fn the_page_makes_an_initiative_and_the_status_says_what_waits() {
    let (shop, said) = Shop::new();
    assert!(said.contains("a run was started"), "{said}");
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
    assert_eq!(refusal["error"]["obstacles"][0]["repo_id"], "api");

    let document = json(&shop.coordinator(&["status", "--json"]).yes());
    assert_eq!(document["state"]["status"], "active");
    assert_eq!(document["repos"][0]["status"], "active");
    assert_eq!(document["workstreams"][0]["obstacle"], "repo_busy");
    assert_eq!(document["divergence"], Value::Array(Vec::new()));

    accord(
        &["run", "escalate", "--reason", "stop", "--repo", root.join("api").to_str().unwrap()],
        "",
    )
    .yes();
    let blocked = json(&shop.coordinator(&["status", "--json"]).yes());
    assert_eq!(blocked["divergence"][0]["kind"], "repo_blocked_unexpectedly");
    let command = blocked["next"][0]["command"].as_str().unwrap();
    assert_eq!(command, format!("accord run resolve {api}"));
}

/// The commands that an answer names, without the place of the workspace.
fn commands(answer: &Value, root: &Path) -> Vec<String> {
    let place = format!("{}/", root.display());
    let steps = answer.as_array().expect("steps").iter();
    let steps = steps.map(|step| step["command"].as_str().expect("a command"));
    steps.map(|command| command.replace(&place, "")).collect()
}

#[test]
fn repositories_at_their_own_gates_are_named_with_what_opens_them() {
    let (shop, said) = Shop::after(2);
    let root = shop.root();
    let expected =
        ["accord run approve-transition --repo api", "accord run approve-transition --repo web"];
    for command in expected {
        let words = command.replace("--repo ", &format!("--repo {}/", root.display()));
        assert!(said.contains(&words), "{said}");
    }
    let status = json(&shop.coordinator(&["status", "--json"]).yes());
    assert_eq!(commands(&status["next"], &root), expected);
    let refusal = shop.coordinator(&["step", "--json"]);
    assert_eq!(refusal.code, 2);
    let refusal = json(&refusal.stdout);
    assert_eq!(refusal["code"], "nothing_to_dispatch");
    let details = &refusal["error"];
    assert_eq!(commands(&details["next"], &root), expected);
    assert_eq!(details["gate_blockers"][0], "repo_pending_gate (api)");
    let words = shop.coordinator(&["step"]).refused("nothing_to_dispatch");
    assert!(
        words.contains("approve-transition --repo") && words.contains("planning_signoff"),
        "{words}"
    );
}

#[test]
fn the_page_leads_to_the_end_of_the_initiative() {
    let (shop, said) = Shop::after(usize::MAX);
    assert!(said.contains("reached initiative_ship"), "{said}");
    let status = json(&shop.coordinator(&["status", "--json"]).yes());
    assert_eq!(status["state"]["status"], "completed");
    for repo in status["repos"].as_array().expect("repositories") {
        assert_eq!(repo["status"], "completed", "{repo}");
    }
    assert_eq!(status["findings"], Value::Array(Vec::new()));
}

#[test]
fn mistyped_members_of_a_workspace_are_named() {
    let (shop, _) = Shop::new();
    shop.change("agentxchain-multi.json", |config| {
        config["gates"] = serde_json::json!({"g": {"require_repos": ["api"]}});
        config["repos"]["api"]["requird"] = false.into();
    });
    let words = shop.coordinator(&["status"]).yes();
    assert!(words.contains("did you mean required?"), "{words}");
    let status = json(&shop.coordinator(&["status", "--json"]).yes());
    let found = status["findings"].as_array().expect("findings");
    let gate = found.iter().find(|finding| finding["level"] == "error").expect("the gate");
    assert_eq!(gate["subject"], "agentxchain-multi.json, gates.g.require_repos");
    assert_eq!(gate["code"], "invalid_coordinator_config");
}

#[test]
fn a_repository_that_diverged_is_reported_and_mended() {
    let (shop, _) = Shop::new();
    let same = shop.coordinator(&["resync"]).yes();
    assert!(same.contains("the repositories match the initiative"), "{same}");
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
    shop.coordinator(&["resync"]).refused("coordinator_diverged");
    let report = shop.root().join(".agentxchain/multirepo/RECOVERY_REPORT.md");
    std::fs::write(report, "## Trigger\nx\n## Impact\nx\n## Mitigation\nx\n").unwrap();
    let mended = shop.coordinator(&["resync"]).yes();
    assert!(mended.contains("the initiative continues"), "{mended}");
    shop.coordinator(&["approve-gate"]).refused("invalid_state_transition");
}

#[test]
fn a_repository_of_an_initiative_leads_to_its_coordinator() {
    let (shop, _) = Shop::new();
    let repo = shop.root().join("web");
    let status = accord(&["run", "status", "--repo", repo.to_str().expect("text")], "").yes();
    let workspace = shop.root();
    let step = format!("accord run coordinator step --workspace {}", workspace.display());
    assert!(status.contains(&step), "{status}");
}

#[test]
fn a_folder_without_an_initiative_says_how_to_begin() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let words = ["run", "coordinator", "status", "--workspace", place];
    let missing = accord(&words, "").refused("invalid_coordinator_config");
    assert!(missing.contains("agentxchain-multi.json"), "{missing}");
}

#[test]
fn the_gate_of_an_initiative_is_sent_back_to_one_repository() {
    let (shop, _) = Shop::after(2);
    let root = shop.root();
    let in_repo = |repo: &str, words: &[&str]| {
        let place = root.join(repo);
        let place = ["--repo", place.to_str().expect("text")];
        accord(&[&["run"], words, &place].concat(), "")
    };
    for repo in ["api", "web"] {
        in_repo(repo, &["approve-transition", "--yes", "--actor", "human:lead"]).yes();
    }
    let reached = shop.coordinator(&["step"]).yes();
    assert!(reached.contains("or    accord run coordinator send-back --reason '…'"), "{reached}");
    let reason = ["send-back", "--reason", "Web forgets refunds."];
    let words = [&reason[..], &["--repo", "web"]].concat();
    shop.coordinator(&words).refused("confirmation_needed");
    shop.coordinator(&[&reason[..], &["--repo", "shop", "--yes"]].concat())
        .refused("unknown_repository");
    let said = [&words[..], &["--actor", "human:reviewer", "--yes", "--json"]].concat();
    let said = json(&shop.coordinator(&said).yes());
    assert_eq!(said["repos"], serde_json::json!(["web"]));
    assert_eq!(
        (&said["state"]["status"], &said["state"]["phase"]),
        (&"active".into(), &"planning".into())
    );
    shop.coordinator(&["approve-gate", "--yes"]).refused("invalid_state_transition");

    let stepped = json(&shop.coordinator(&["step", "--json"]).yes());
    assert_eq!(stepped["dispatched"]["repo_id"], "web", "{stepped}");
    let turns = root.join("web/.agentxchain/dispatch/turns");
    let turn = std::fs::read_dir(turns).unwrap().next().expect("a turn").unwrap().path();
    let context = std::fs::read_to_string(turn.join("CONTEXT.md")).expect("a context");
    assert!(context.contains("## Sent back by a person"), "{context}");
    assert!(context.contains("> Web forgets refunds."), "{context}");

    std::fs::create_dir_all(root.join("web/src")).unwrap();
    std::fs::write(root.join("web/src/refunds.txt"), "refunds\n").unwrap();
    in_repo("web", &["stage", "--summary", "Refunds"]).yes();
    assert_eq!(in_repo("web", &["step"]).code, 0);
    let reached = shop.coordinator(&["step"]).yes();
    assert!(reached.contains("accord run coordinator approve-gate"), "{reached}");
    let passed = json(&shop.coordinator(&["approve-gate", "--yes", "--json"]).yes());
    assert_eq!(passed["state"]["phase"], "implementation");
}

/// Runs a command in a folder, as a person there does.
fn in_folder(folder: &Path, words: &[&str]) -> Ran {
    let mut command = command(words);
    command.env("ACCORD_ACTOR", "human:lead").current_dir(folder);
    run(command, "")
}

/// The items of a kind in the inbox of a folder without a memory, which is refused where nothing
/// waits.
fn inbox_items(folder: &Path, kind: &str) -> Vec<Value> {
    let listed = in_folder(folder, &["inbox", "--json"]);
    let list = json(&listed.stdout);
    match list["items"].as_array() {
        Some(items) => items.iter().filter(|item| item["kind"] == kind).cloned().collect(),
        None => {
            assert_eq!(list["code"], "STORE_MISSING", "{listed:?}");
            Vec::new()
        }
    }
}

#[test]
fn the_gate_of_an_initiative_is_an_item_in_its_workspace() {
    let (shop, _) = Shop::after(2);
    let root = shop.root();
    assert_eq!(inbox_items(&root, "coordinator.gate"), Vec::<Value>::new());
    for repo in ["api", "web"] {
        let words = ["run", "approve-transition", "--yes", "--repo", repo];
        in_folder(&root, &words).yes();
    }
    shop.coordinator(&["step"]).yes();
    let found = inbox_items(&root, "coordinator.gate");
    let item = found.first().expect("the gate");
    assert_eq!(item["urgency"], 2, "{item}");
    let title = item["title"].as_str().expect("a title");
    assert!(title.ends_with("of the initiative: planning -> implementation"), "{title}");
    // It is the same from a repository of the initiative.
    assert_eq!(inbox_items(&root.join("api"), "coordinator.gate")[0]["id"], item["id"]);
    let handle = item["handle"].as_str().expect("a short name");
    let shown = in_folder(&root, &["inbox", "show", handle]).yes();
    for expected in ["barrier:", "repository: api: ", "approve-gate", "send-back", "--expect"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let back = ["inbox", "do", handle, "send-back", "--note", "Refunds?", "--", "--yes"];
    let sent = in_folder(&root, &back);
    assert_eq!(sent.code, 0, "{sent:?}");
    assert!(sent.stderr.contains("it does not wait any more"), "{sent:?}");
    assert_eq!(inbox_items(&root, "coordinator.gate"), Vec::<Value>::new());
}

#[test]
fn an_initiative_that_diverged_is_an_item_in_its_workspace() {
    let (shop, _) = Shop::new();
    let root = shop.root();
    assert_eq!(inbox_items(&root, "coordinator.diverged"), Vec::<Value>::new());
    shop.change("web/.agentxchain/state.json", |state| {
        state["run_id"] = "run_other".into();
    });
    let found = inbox_items(&root, "coordinator.diverged");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["title"], "The initiative differs from web: run_id_mismatch");
    assert_eq!(found[0]["urgency"], 1);
    shop.coordinator(&["step"]).refused("coordinator_diverged");
    // Blocked for it: the same item.
    let blocked = inbox_items(&root, "coordinator.diverged");
    assert_eq!(blocked[0]["id"], found[0]["id"], "{blocked:?}");
    let handle = found[0]["handle"].as_str().expect("a short name");
    let compared = in_folder(&root, &["inbox", "do", handle, "compare"]);
    assert!(compared.stdout.contains("web: run_id_mismatch"), "{compared:?}");
    let report = root.join(".agentxchain/multirepo/RECOVERY_REPORT.md");
    std::fs::write(report, "## Trigger\nx\n## Impact\nx\n## Mitigation\nx\n").unwrap();
    let mended = in_folder(&root, &["inbox", "do", handle, "resync"]);
    assert_eq!(mended.code, 0, "{mended:?}");
    assert_eq!(inbox_items(&root, "coordinator.diverged"), Vec::<Value>::new());
}
