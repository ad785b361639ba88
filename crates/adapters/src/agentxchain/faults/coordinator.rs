//! Barriers that open too early, and coordinators that let too much pass.

use serde_json::{Value, json};

use super::tools::{Honest, Said, answered, asked, each};
use crate::{Call, Reply};

const PROJECT: &[&str] = &["project_repo_acceptance"];

pub(super) fn circle_accepted(call: &Call, honest: Honest<'_>) -> Said {
    match honest(call)? {
        Reply::Outcome(outcome) if outcome["error_type"] == "workstream_cycle" => {
            asked(call, honest, &["validate_coordinator_config"], |document| {
                let streams = document.pointer_mut("/setup/coordinator_config/workstreams");
                for stream in each(streams) {
                    stream["depends_on"] = json!([]);
                }
            })
        }
        reply => Ok(reply),
    }
}

pub(super) fn first_satisfies(call: &Call, honest: Honest<'_>) -> Said {
    let whole = |status: &mut Value| {
        if *status == "partially_satisfied" {
            *status = "satisfied".into();
        }
    };
    answered(call, honest, PROJECT, |outcome| {
        for effect in each(outcome.get_mut("barrier_effects")) {
            whole(&mut effect["new_status"]);
        }
        for barrier in each(outcome.get_mut("barrier_snapshot")) {
            whole(&mut barrier["status"]);
        }
    })
}

pub(super) fn writes_anywhere(call: &Call, honest: Honest<'_>) -> Said {
    asked(call, honest, PROJECT, |document| {
        document["args"]["accepted_turn"]["files_changed"] = json!([]);
    })
}

pub(super) fn people_not_awaited(call: &Call, honest: Honest<'_>) -> Said {
    as_all_accepted(call, honest, "shared_human_gate")
}

pub(super) fn named_decisions_unread(call: &Call, honest: Honest<'_>) -> Said {
    as_all_accepted(call, honest, "named_decisions")
}

pub(super) fn order_ignored(call: &Call, honest: Honest<'_>) -> Said {
    as_all_accepted(call, honest, "ordered_repo_sequence")
}

/// Takes one kind of barrier for the simplest one.
fn as_all_accepted(call: &Call, honest: Honest<'_>, kind: &str) -> Said {
    asked(call, honest, PROJECT, |document| {
        let simple = |member: &mut Value| {
            if *member == kind {
                *member = "all_repos_accepted".into();
            }
        };
        for barrier in each(document.pointer_mut("/setup/barriers")) {
            simple(&mut barrier["type"]);
        }
        let streams = document.pointer_mut("/setup/coordinator_config/workstreams");
        for stream in each(streams) {
            simple(&mut stream["completion_barrier"]);
        }
    })
}
