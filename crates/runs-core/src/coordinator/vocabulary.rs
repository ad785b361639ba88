//! The known members of `agentxchain-multi.json`.

use crate::config::HOOKS;
use crate::unknown_members::{KnownMember, Shape, decides, guards, kept};

/// The members of the document.
pub(super) static DOCUMENT: [KnownMember; 7] = [
    decides("schema_version"),
    decides("project").of(Shape::Object(&PROJECT)),
    decides("repos").of(Shape::Map(&Shape::Object(&REPO))),
    decides("workstreams").of(Shape::Map(&Shape::Object(&WORKSTREAM))),
    decides("routing").of(Shape::Map(&Shape::Object(&ROUTE))),
    decides("gates").of(Shape::Map(&Shape::Object(&GATE))),
    decides("hooks").of(HOOKS),
];

static PROJECT: [KnownMember; 2] = [decides("id"), decides("name")];

static REPO: [KnownMember; 3] = [decides("path"), kept("default_branch"), decides("required")];

static WORKSTREAM: [KnownMember; 7] = [
    decides("phase"),
    decides("repos"),
    decides("entry_repo"),
    decides("depends_on"),
    decides("completion_barrier"),
    decides("interface_alignment").of(Shape::Object(&DECISIONS)),
    decides("named_decisions").of(Shape::Object(&DECISIONS)),
];

static DECISIONS: [KnownMember; 1] = [decides("decision_ids_by_repo")];

static ROUTE: [KnownMember; 2] = [decides("entry_workstream"), guards("exit_gate")];

static GATE: [KnownMember; 2] = [guards("requires_human_approval"), guards("requires_repos")];
