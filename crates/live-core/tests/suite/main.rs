//! Tests of the rules about live sessions.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod actions;
mod answering;
mod asking;
mod binding;
mod channels;
mod consuming;
mod contexts;
mod contract;
mod controlling;
mod frames;
mod gadgets;
mod gates;
mod handshakes;
mod hashes;
mod hostile;
mod inbox;
mod keeping;
mod oracle;
mod props;
mod props_changes;
mod public_samples;
mod replays;
mod reserved;
mod resources;
mod schema;
mod schema_limits;
mod sequencing;
mod streams;
mod subscribing;
mod subset;
mod support;
mod tenancies;
mod tokens;
mod tools;
mod upgrades;
mod version;
mod violation;
