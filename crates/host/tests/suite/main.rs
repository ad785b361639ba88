//! Tests of the host.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    reason = "a host has a clock and files, and so have its tests"
)]

mod attempts;
mod blobs;
mod briefing;
mod briefing_holds;
mod bundles;
mod client;
mod credentials;
mod damage;
mod deposits;
mod door;
mod edge_items;
mod events;
mod export;
mod facts;
mod faults;
mod import;
mod inbox_damage;
mod inbox_events;
mod keep_alive;
mod links;
mod live;
mod live_own;
mod live_tools;
mod mcp;
mod notify;
mod notify_people;
mod oddities;
mod openapi;
mod own_verbs;
mod pulls;
mod removal;
mod repair;
mod retention;
mod reviews;
mod roundtrip;
mod rows;
mod scheduling;
mod scopes;
mod search;
mod strictness;
mod support;
mod takeover;
mod task_backup;
mod task_trees;
mod tasks;
mod undeclared;
mod verify;
mod visibility;
mod watch;
