//! How a worker says what it did: the part of `PROMPT.md` that an agent must be able to follow
//! without knowing anything else of the protocol.

use std::fmt::Write as _;

use super::{Briefing, NAMED_RESERVED, staging_path};
use crate::config::WriteAuthority;
use crate::delegation::MAX_DELEGATIONS;

/// The end of `PROMPT.md`.
pub(super) fn form(briefing: &Briefing<'_>) -> String {
    let mut text = members(briefing);
    decisions(briefing, &mut text);
    delegations(briefing, &mut text);
    proposals(briefing, &mut text);
    let _ = write!(
        text,
        "\n### Paths to leave alone\n\n\
         Neither change nor declare what the run keeps for itself, in any spelling: {}, the other records, \
         `dispatch/`, `locks/` and `transactions/` below `.agentxchain/`, and everything below `.git/`. Your \
         own result is not declared either. Paths are relative to the repository and stay inside it.\n",
        NAMED_RESERVED.map(|path| format!("`{path}`")).join(", "),
    );
    text
}

fn members(briefing: &Briefing<'_>) -> String {
    let Briefing {
        config,
        state,
        turn,
        ..
    } = *briefing;
    let next = next_roles(briefing);
    let last = config.next_phase(state.phase()).is_none();
    let request = match config.next_phase(state.phase()) {
        Some(phase) => format!("`phase_transition_request`: \"{phase}\" when this phase is done"),
        None => "`run_completion_request`: true when the run is done".to_owned(),
    };
    let other = if last {
        "`phase_transition_request`"
    } else {
        "`run_completion_request`"
    };
    format!(
        "\n## When you are done\n\nWrite one JSON object to `{}`, with these members:\n\n\
         - `schema_version` \"1.0\", `run_id` \"{}\", `turn_id` \"{}\", `role` \"{}\", `runtime_id` \"{}\"\n\
         - `status`: completed, blocked, needs_human (with `needs_human_reason`) or failed\n\
         - `summary`: what you did\n\
         - `decisions`: a list, see below; empty where you decided nothing\n\
         - `objections`: objects with `id` (OBJ- and a number), `severity` (low, medium, high, blocking),\n\
         \x20 `statement`; a role that only reviews raises at least one\n\
         - `files_changed`: every file that you changed, added or deleted, relative to the repository\n\
         - `verification`: `status` (pass, fail, skipped), `commands`, `evidence_summary`,\n\
         \x20 `machine_evidence` (objects with `command` and `exit_code`), `produced_files` (what checks left\n\
         \x20 behind: objects with `path` and `disposition`, artifact to keep it or ignore to have it deleted)\n\
         - `artifact`: `type` (workspace for changed files, review for none, patch, commit)\n\
         - `proposed_next_role`: {}human\n\
         - {request}; leave it out, and {other} too, while it is not\n\
         - `cost`: `usd`, what the turn cost, where you know it\n",
        staging_path(turn.id()),
        state.run_id().map_or("?", crate::RunId::as_str),
        turn.id(),
        turn.role(),
        turn.runtime_id().unwrap_or("?"),
        next.iter()
            .map(|role| format!("{role}, "))
            .collect::<String>(),
    )
}

fn decisions(briefing: &Briefing<'_>, text: &mut String) {
    let _ = write!(
        text,
        "\n### Decisions\n\n\
         Each has `id`, `category` (implementation, architecture, scope, process, quality, release), `statement` and \
         `rationale`. Ids are not used twice in a run: the next free one is {}.\n\n\
         - `durability`: \"repo\" for a decision that later runs are bound by too; without it, it ends with the run.\n\
         - `overrides`: the id of a decision of the repository that this one replaces. It must be in force \
         (CONTEXT.md lists those), and yours or of a role with no higher authority.\n",
        briefing.next_decision,
    );
}

fn delegations(briefing: &Briefing<'_>, text: &mut String) {
    let own = briefing.turn.role();
    let roles = next_roles(briefing);
    let roles: Vec<&str> = roles.into_iter().filter(|role| *role != own).collect();
    if roles.is_empty() || briefing.turn.delegation_context().is_some() {
        text.push_str(
            "\n### Delegations\n\nThis turn hands nothing on: leave `delegations` out.\n",
        );
        return;
    }
    let _ = write!(
        text,
        "\n### Delegations\n\n\
         To hand parts of the work on, add `delegations`, at most {MAX_DELEGATIONS} objects with `id` (del-001, del-002, …), \
         `to_role` ({}), `charter` (what is to be done) and `acceptance_contract` (a list: what shows that it is done); \
         `required_decision_ids` where decisions must come back. You review what came back in a later turn. Do not \
         ask for the end of the run in the same result.\n",
        roles.join(", "),
    );
}

fn proposals(briefing: &Briefing<'_>, text: &mut String) {
    let role = briefing.config.role(briefing.turn.role());
    if role.is_some_and(|role| role.authority == WriteAuthority::Proposed) {
        text.push_str(
            "\n### Proposed changes\n\n\
             `proposed_changes`: objects with `path`, `action` (create, modify, delete) and, but for delete, the whole \
             `content`. `files_changed` stays empty, and `artifact.type` is patch.\n",
        );
    }
}

/// The roles that may go next, people aside.
fn next_roles<'a>(briefing: &Briefing<'a>) -> Vec<&'a str> {
    let route = briefing.config.route(briefing.state.phase());
    let allowed = route.and_then(|route| route.allowed_next_roles.as_deref());
    let allowed = allowed.unwrap_or_default().iter().map(String::as_str);
    allowed.filter(|role| *role != "human").collect()
}
