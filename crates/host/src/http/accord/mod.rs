//! Accord's own routes that belong to no protocol's door: keys, people, decisions, maintenance,
//! removal of projects, linked task trees, information about the server.

pub(super) mod about;
pub(super) mod decisions;
pub(super) mod edges;
pub(super) mod ids;
pub(super) mod inbox;
pub(super) mod keys;
pub(super) mod notifications;
pub(super) mod people;
pub(super) mod projects;
pub(super) mod task_trees;
pub(super) mod upkeep;
