//! The services for governed runs, on real repositories with real hooks and real git.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make repositories, and look at what became of them"
)]

mod acceptance;
mod approvals;
mod attack;
mod attacks;
mod beginning;
mod blinded;
mod callers;
mod coordinator;
mod coordinator_kills;
mod driving;
mod facts;
mod gates;
mod git;
mod guarding;
mod hidden_changes;
mod hints;
mod hooks;
mod hostile;
mod initiative;
mod kills;
mod liveness;
mod long_history;
mod presets;
mod proposals;
mod reissuing;
mod repository;
mod schemas;
mod send_backs;
mod staging;
mod status;
mod support;
mod tries;
mod walk;
mod workers;
mod workers_afar;
