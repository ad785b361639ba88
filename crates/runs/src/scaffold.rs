//! What a new governed repository begins with.

use accord_contract::{Object, Value, wire_enum};
use serde_json::json;

wire_enum! {
    pub enum NewRole("NewRole", closed) {
        /// Plans.
        Pm = "pm",
        /// Builds.
        Dev = "dev",
        /// Reviews and gives the verdict.
        Qa = "qa",
    }
}

/// The roles that an agent has if none is named. The verdict stays with a person.
const AGENT_ROLES: [NewRole; 2] = [NewRole::Pm, NewRole::Dev];

/// What lasts only while a turn does.
pub(crate) const IGNORED: [&str; 5] = [
    ".agentxchain/dispatch/",
    ".agentxchain/dispatch-progress*",
    ".agentxchain/staging/",
    ".agentxchain/locks/",
    ".agentxchain/transactions/",
];

/// The documents that the gates of the phases look at, and the records, empty.
pub(crate) const FILES: [(&str, &str); 10] = [
    (".planning/PM_SIGNOFF.md", PM_SIGNOFF),
    (".planning/ROADMAP.md", ROADMAP),
    (".planning/SYSTEM_SPEC.md", SYSTEM_SPEC),
    (".planning/IMPLEMENTATION_NOTES.md", IMPLEMENTATION_NOTES),
    (".planning/acceptance-matrix.md", ACCEPTANCE_MATRIX),
    (".planning/ship-verdict.md", SHIP_VERDICT),
    (".planning/RELEASE_NOTES.md", RELEASE_NOTES),
    ("TALK.md", TALK),
    (".agentxchain/history.jsonl", ""),
    (".agentxchain/decision-ledger.jsonl", ""),
];

/// Whether a path is a file of the scaffold, other than a record.
pub(crate) fn has(path: &str) -> bool {
    let is_prompt = || {
        let name = path.strip_prefix(".agentxchain/prompts/").and_then(|n| n.strip_suffix(".md"));
        name.is_some_and(|name| !name.contains('/'))
    };
    path == "agentxchain.json"
        || path == IGNORE_FILE
        || FILES.iter().any(|(own, _)| *own == path)
        || is_prompt()
}

/// Whether the ignore file differs from the committed one only by lines of the scaffold.
pub(crate) fn only_ignores_more(committed: &str, present: &str) -> bool {
    let present: Vec<&str> = present.lines().collect();
    let committed: Vec<&str> = committed.lines().collect();
    let added = present.strip_prefix(committed.as_slice());
    added.is_some_and(|added| added.iter().all(|line| IGNORED.contains(line)))
}

pub(crate) const IGNORE_FILE: &str = ".gitignore";

pub(crate) struct Project {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) goal: Option<String>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewAgent {
    /// The id of its runtime, which the history and the output of a run show.
    pub runtime: String,
    /// Its command. The prompt replaces `{prompt}` in a word; without that it is passed on standard
    /// input.
    pub command: Vec<String>,
    /// The roles whose turns it does; `pm` and `dev` if empty.
    pub roles: Vec<NewRole>,
}

impl NewAgent {
    pub fn has(&self, role: NewRole) -> bool {
        if self.roles.is_empty() { AGENT_ROLES.contains(&role) } else { self.roles.contains(&role) }
    }
}

/// The configuration: three phases, three roles, a gate behind each phase.
pub(crate) fn config(project: &Project, agent: Option<&NewAgent>) -> Object {
    let mut about = json!({"id": project.id, "name": project.name});
    if let Some(goal) = &project.goal {
        about["goal"] = goal.as_str().into();
    }
    let mut runtimes = json!({"by-hand": {"type": "manual"}});
    let with_agent = |role: NewRole| agent.is_some_and(|agent| agent.has(role));
    let runtime = |role: NewRole| match agent {
        Some(agent) if agent.has(role) => agent.runtime.as_str(),
        _ => "by-hand",
    };
    // A program that writes its result itself cannot be held to reviewing only, so that the
    // protocol refuses the two together.
    let reviewer = if with_agent(NewRole::Qa) { "authoritative" } else { "review_only" };
    if let Some(NewAgent { runtime, command, .. }) = agent {
        let by_argument = command.iter().any(|word| word.contains("{prompt}"));
        let transport = if by_argument { "argv" } else { "stdin" };
        runtimes[runtime.as_str()] = json!({
            "type": "local_cli",
            "command": command,
            "prompt_transport": transport,
        });
    }
    let document = json!({
        "schema_version": "1.0",
        "project": about,
        "roles": {
            "pm": {
                "title": "Product Manager",
                "mandate": "Say what is built and for whom, in .planning, and what would show \
                            that it is done.",
                "write_authority": "authoritative",
                "runtime": runtime(NewRole::Pm),
            },
            "dev": {
                "title": "Developer",
                "mandate": "Build what the plan says, with tests, and write down how it was \
                            verified.",
                "write_authority": "authoritative",
                "runtime": runtime(NewRole::Dev),
            },
            "qa": {
                "title": "Quality",
                "mandate": "Doubt the work: check every requirement, object to what is wrong, and \
                            give the verdict.",
                "write_authority": reviewer,
                "runtime": runtime(NewRole::Qa),
            },
        },
        "runtimes": runtimes,
        // The order of the phases is the order of these members.
        "routing": {
            "planning": {
                "entry_role": "pm",
                "allowed_next_roles": ["pm", "dev", "human"],
                "exit_gate": "planning_signoff",
            },
            "implementation": {
                "entry_role": "dev",
                "allowed_next_roles": ["dev", "qa", "pm", "human"],
                "exit_gate": "implementation_complete",
            },
            "qa": {
                "entry_role": "qa",
                "allowed_next_roles": ["qa", "dev", "pm", "human"],
                "exit_gate": "qa_ship_verdict",
            },
        },
        "gates": {
            "planning_signoff": {
                "requires_files": [
                    ".planning/PM_SIGNOFF.md",
                    ".planning/ROADMAP.md",
                    ".planning/SYSTEM_SPEC.md",
                ],
                "requires_human_approval": true,
            },
            "implementation_complete": {
                "requires_files": [".planning/IMPLEMENTATION_NOTES.md"],
                "requires_verification_pass": true,
            },
            "qa_ship_verdict": {
                "requires_files": [
                    ".planning/acceptance-matrix.md",
                    ".planning/ship-verdict.md",
                    ".planning/RELEASE_NOTES.md",
                ],
                "requires_verification_pass": true,
                "requires_human_approval": true,
            },
        },
        "rules": {"challenge_required": true, "max_turn_retries": 2},
        "prompts": {
            "pm": ".agentxchain/prompts/pm.md",
            "dev": ".agentxchain/prompts/dev.md",
            "qa": ".agentxchain/prompts/qa.md",
        },
    });
    match document {
        Value::Object(members) => members,
        _ => Object::new(),
    }
}

/// A role's own instructions, to be written on.
pub(crate) fn role_prompt(title: &str, mandate: &str) -> String {
    format!(
        "# {title}\n\n{mandate}\n\n\
         Everything that is written here is part of this role's prompt, turn by turn.\n"
    )
}

// The gates recognise the placeholders in these texts, and stay shut until they are replaced. Other
// words would open them.
const PM_SIGNOFF: &str = "# Sign-off

Approved: NO

The product manager changes the line above to YES once the plan can be built from.
";

const ROADMAP: &str = "# Roadmap

## Phases

| Phase | Goal | Status |
|-------|------|--------|
| planning | What is built, for whom, and what shows that it is done | in progress |
| implementation | The plan is built, with tests | pending |
| qa | Every requirement is checked, and the verdict given | pending |

## Requirements

| Req # | What | Shown by |
|-------|------|----------|
";

const SYSTEM_SPEC: &str = "# System

## Purpose

(What the system is for.)

## Interface

(What goes in and what comes out.)

## Acceptance Tests

- [ ] Name the executable checks that must pass.
";

const IMPLEMENTATION_NOTES: &str = "# Implementation

## Changes

(Dev fills this during implementation)

## Verification

(Dev fills this during implementation)
";

const ACCEPTANCE_MATRIX: &str = "# Acceptance

| Req # | What | Checked by | Status |
|-------|------|------------|--------|
| (QA fills this from ROADMAP.md) | | | |
";

const SHIP_VERDICT: &str = "# Verdict

## Verdict: PENDING

Quality changes the line above to YES once the work can be shipped.
";

const RELEASE_NOTES: &str = "# Release notes

## User Impact

(QA fills this during the QA phase)

## Verification Summary

(QA fills this during the QA phase)
";

const TALK: &str = "# Talk

What each accepted turn did, decided and objected to, the newest last.
";
