//! The known members of `agentxchain-multi.json`.

use crate::config::HOOKS;
use crate::mistyped_members::MemberType::{Flag, Text, Texts};
use crate::unknown_members::{KnownMember, Shape, decides, guards, kept};

pub(super) static DOCUMENT: [KnownMember; 7] = [
    decides("schema_version").is(Text),
    decides("project").of(Shape::Object(&PROJECT)),
    decides("repos").of(Shape::Map(&Shape::Object(&REPO))),
    decides("workstreams").of(Shape::Map(&Shape::Object(&WORKSTREAM))),
    decides("routing").of(Shape::Map(&Shape::Object(&ROUTE))),
    decides("gates").of(Shape::Map(&Shape::Object(&GATE))),
    decides("hooks").of(HOOKS),
];

static PROJECT: [KnownMember; 2] = [decides("id").is(Text), decides("name").is(Text)];

static REPO: [KnownMember; 3] =
    [decides("path").is(Text), kept("default_branch"), decides("required").is(Flag)];

static WORKSTREAM: [KnownMember; 7] = [
    decides("phase").is(Text),
    decides("repos").is(Texts),
    decides("entry_repo").is(Text),
    decides("depends_on").is(Texts),
    decides("completion_barrier").is(Text),
    decides("interface_alignment").of(Shape::Object(&DECISIONS)),
    decides("named_decisions").of(Shape::Object(&DECISIONS)),
];

static DECISIONS: [KnownMember; 1] =
    [decides("decision_ids_by_repo").of(Shape::Map(&Shape::Value(Texts)))];

static ROUTE: [KnownMember; 2] =
    [decides("entry_workstream").is(Text), guards("exit_gate").is(Text)];

static GATE: [KnownMember; 2] =
    [guards("requires_human_approval").is(Flag), guards("requires_repos").is(Texts)];
