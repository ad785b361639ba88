//! What a person still has to approve.

use accord_wiring::{Tool, trust};

use crate::desk::{Desk, ROOT, homes};

#[track_caller]
fn open(tool: Tool, files: &[(&str, &str)]) -> usize {
    trust(tool, ROOT, &homes(), &Desk::with(files).snapshot()).len()
}

#[test]
fn what_a_person_has_approved_is_not_asked_for_again() {
    let (claude, codex) = ("/home/ada/.claude.json", "/home/ada/.codex/config.toml");
    assert_eq!(open(Tool::Claude, &[]), 2);
    let trusted = format!("{{\"projects\": {{\"{ROOT}\": {{\"hasTrustDialogAccepted\": true}}}}}}");
    assert_eq!(open(Tool::Claude, &[(claude, &trusted)]), 1);
    let local = (".claude/settings.local.json", "{\"enabledMcpjsonServers\": [\"accord\"]}");
    assert_eq!(open(Tool::Claude, &[(claude, &trusted), local]), 0);

    assert_eq!(open(Tool::Codex, &[]), 2);
    let config = format!("[projects.\"{ROOT}\"]\ntrust_level = \"trusted\"\n");
    assert_eq!(open(Tool::Codex, &[(codex, &config)]), 1);
    let state = format!(
        "{config}[hooks.state.\"{ROOT}/.codex/hooks.json:session_start:0:0\"]\n\
         trusted_hash = \"sha256:x\"\n"
    );
    assert_eq!(open(Tool::Codex, &[(codex, &state)]), 0);

    let folders = "/home/ada/.gemini/trustedFolders.json";
    assert_eq!(open(Tool::Gemini, &[]), 1);
    assert_eq!(open(Tool::Gemini, &[(folders, "{\"/srv\": \"TRUST_FOLDER\"}")]), 0);
    assert_eq!(open(Tool::Gemini, &[(folders, "{\"/srv\": \"DO_NOT_TRUST\"}")]), 1);
    assert_eq!(open(Tool::Opencode, &[]), 0);
}
