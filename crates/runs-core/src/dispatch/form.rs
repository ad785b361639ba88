//! The part of `PROMPT.md` that explains the result. It must be enough for an agent that knows
//! nothing else of the protocol.

use std::fmt::Write as _;

use super::{Briefing, NAMED_RESERVED, staging_path};
use crate::WriteAuthority;
use crate::delegation::MAX_DELEGATIONS;

pub(super) fn form(briefing: &Briefing<'_>) -> String {
    let mut text = members(briefing);
    decisions(briefing, &mut text);
    delegations(briefing, &mut text);
    proposals(briefing, &mut text);
    let _ = write!(
        text,
        "\n### Reserved paths\n\n\
         Do not change or declare the files of the run itself, in any spelling: {}, the other\n\
         records, `dispatch/`, `locks/` and `transactions/` below `.agentxchain/`, and everything\n\
         below `.git/`. Do not declare your own result. Paths are relative to the repository and\n\
         stay inside it.\n",
        NAMED_RESERVED.map(|path| format!("`{path}`")).join(", "),
    );
    text
}

fn members(briefing: &Briefing<'_>) -> String {
    let Briefing { config, state, turn, .. } = *briefing;
    let next = next_roles(briefing);
    let last = config.next_phase(state.phase()).is_none();
    let request = match config.next_phase(state.phase()) {
        Some(phase) => format!("`phase_transition_request`: \"{phase}\" when this phase is done"),
        None => "`run_completion_request`: true when the run is done".to_owned(),
    };
    let other = if last { "`phase_transition_request`" } else { "`run_completion_request`" };
    format!(
        "\n## When you are done\n\nWrite one JSON object to `{}`, with these members:\n\n\
         - `schema_version` \"1.0\", `run_id` \"{}\", `turn_id` \"{}\", `role` \"{}\",\n\
         \x20 `runtime_id` \"{}\"\n\
         - `status`: completed, blocked, needs_human (with `needs_human_reason`) or failed\n\
         - `summary`: what you did\n\
         - `decisions`: a list, see below; empty if you decided nothing\n\
         - `objections`: objects with `id` (OBJ- and a number), `severity` (low, medium, high,\n\
         \x20 blocking) and `statement`; a review-only role raises at least one\n\
         - `files_changed`: every file that you changed, added or deleted, relative to the\n\
         \x20 repository\n\
         - `verification`: `status` (pass, fail, skipped), `commands`, `evidence_summary`,\n\
         \x20 `machine_evidence` (objects with `command` and `exit_code`), `produced_files`\n\
         \x20 (files that checks left behind: objects with `path` and `disposition`, which is\n\
         \x20 artifact to keep the file or ignore to delete it)\n\
         - `artifact`: `type` (workspace for changed files, review for none, patch, commit)\n\
         - `proposed_next_role`: {}human\n\
         - {request}; otherwise omit it, and omit {other} too\n\
         - `cost`: `usd`, the cost of the turn, if you know it\n",
        staging_path(turn.id()),
        state.run_id().map_or("?", crate::RunId::as_str),
        turn.id(),
        turn.role(),
        turn.runtime_id().unwrap_or("?"),
        next.iter().map(|role| format!("{role}, ")).collect::<String>(),
    )
}

fn decisions(briefing: &Briefing<'_>, text: &mut String) {
    let _ = write!(
        text,
        "\n### Decisions\n\n\
         Each decision has `id`, `category` (implementation, architecture, scope, process,\n\
         quality, release), `statement` and `rationale`. An id is used once in a run:\n\
         the next free one is {}.\n\n\
         - `durability`: \"repo\" for a decision that also binds later runs. Without it, the\n\
         \x20 decision ends with the run.\n\
         - `overrides`: the id of a repository decision that this one replaces. It must be in\n\
         \x20 force (CONTEXT.md lists those), and belong to your role or to a role with no higher\n\
         \x20 authority.\n",
        briefing.next_decision,
    );
}

fn delegations(briefing: &Briefing<'_>, text: &mut String) {
    let own = briefing.turn.role();
    let roles: Vec<&str> = next_roles(briefing).into_iter().filter(|role| *role != own).collect();
    // A child turn cannot delegate again; the validation refuses that.
    if roles.is_empty() || briefing.turn.delegation_context().is_some() {
        text.push_str("\n### Delegations\n\nThis turn cannot delegate: omit `delegations`.\n");
        return;
    }
    let _ = write!(
        text,
        "\n### Delegations\n\n\
         To delegate parts of the work, add `delegations`: at most {MAX_DELEGATIONS} objects with\n\
         `id` (del-001, del-002, …), `to_role` ({}), `charter` (the task),\n\
         `acceptance_contract` (a list: what shows that the task is done) and, where\n\
         decisions are needed, `required_decision_ids`. You review the results in a later turn. \
         Do not ask for the end\n\
         of the run in the same result.\n",
        roles.join(", "),
    );
}

fn proposals(briefing: &Briefing<'_>, text: &mut String) {
    let role = briefing.config.role(briefing.turn.role());
    if role.is_some_and(|role| role.authority == WriteAuthority::Proposed) {
        text.push_str(
            "\n### Proposed changes\n\n\
             `proposed_changes`: objects with `path`, `action` (create, modify, delete) and,\n\
             except for delete, the whole `content`. `files_changed` stays empty, and\n\
             `artifact.type` is patch.\n",
        );
    }
}

/// The allowed next roles, without `human`.
fn next_roles<'a>(briefing: &Briefing<'a>) -> Vec<&'a str> {
    let route = briefing.config.route(briefing.state.phase());
    let roles = route.and_then(|route| route.allowed_next_roles.as_deref()).unwrap_or_default();
    roles.iter().map(String::as_str).filter(|role| *role != "human").collect()
}
