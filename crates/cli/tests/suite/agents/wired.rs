//! A repository after `accord init`: the first request of the real client has the briefing, the
//! instructions and the tools.

use super::Desk;
use crate::wait::wait_until;

const BRIEFING: &str = "Accord memory of project shop, as of ";

/// What the memory says.
const HANDOFF: &str = "Retries are capped at five; the next step is the timeout";

#[test]
fn claude_begins_with_briefing_and_tools() {
    if let Some(desk) = Desk::fresh("claude") {
        desk.begins_with_briefing_and_tools("claude -p hello");
    }
}

#[test]
fn codex_begins_with_briefing_and_tools() {
    if let Some(desk) = Desk::fresh("codex") {
        // A person reviews the hook; the test cannot.
        let command = "codex exec --skip-git-repo-check --dangerously-bypass-hook-trust hello \
                       </dev/null";
        desk.begins_with_briefing_and_tools(command);
    }
}

#[test]
fn gemini_begins_with_briefing_and_tools() {
    if let Some(desk) = Desk::fresh("gemini") {
        let command = "gemini --approval-mode yolo -p hello </dev/null";
        desk.begins_with_briefing_and_tools(command);
    }
}

#[test]
fn opencode_begins_with_briefing_and_tools() {
    if let Some(desk) = Desk::fresh("opencode") {
        desk.begins_with_briefing_and_tools("opencode run hello </dev/null");
    }
}

impl Desk {
    fn begins_with_briefing_and_tools(&self, command: &str) {
        self.accord(&format!(
            "context deposit --project shop --actor human:lead --title 'Payments' --handoff \
             '{HANDOFF}'"
        ));
        let name = self.preset.name;
        let said = self.accord(&format!("init {name} --yes"));
        assert!(said.contains("connected for project shop"), "{said}");
        self.commit("Connect the agent");

        self.asks_with_all(command);
        // A linked work tree has the files of the commit, and the memory of the main one.
        self.git(&["worktree", "add", "--quiet", "../side"]);
        // Gemini CLI trusts folders, not repositories.
        if name != "gemini" {
            self.asks_with_all(&format!("cd ../side && {command}"));
        }
        let said = self.accord(&format!("init {name} --remove --yes"));
        assert!(said.contains("no longer connected"), "{said}");
        let left = self.git(&["status", "--short"]);
        let files = self.git(&["show", "--name-only", "--format=", "HEAD"]);
        assert!(files.lines().count() >= 2, "{files}");
        // What was committed is gone again, and nothing else.
        for file in files.lines() {
            assert!(left.contains(&format!(" D {file}")), "{file}: {left}");
        }
        assert_eq!(left.lines().count(), files.lines().count(), "{left}");
    }

    /// Runs a client, and checks what its model is asked first. On a busy machine, the hook may
    /// not be in time at once.
    #[track_caller]
    fn asks_with_all(&self, command: &str) {
        let mut request = String::new();
        wait_until(format_args!("a request with the briefing"), || {
            request = self.first_with_tools(command);
            request.contains(BRIEFING)
        });
        for part in
            [HANDOFF, "## Shared memory (Accord)", "memory_orient", "memory_pull", "memory_deposit"]
        {
            assert!(request.contains(part), "{part:?} is missing in {request}");
        }
    }

    #[track_caller]
    fn first_with_tools(&self, command: &str) -> String {
        let before = self.api.asked().lines().count();
        let ran = self.shell(command);
        assert_eq!(ran.code, 0, "{ran:?}");
        let asked = self.api.asked();
        let request = asked.lines().skip(before).find(|request| request.contains("\"tools\":["));
        request.unwrap_or_else(|| panic!("no request with tools: {asked}")).to_owned()
    }
}
