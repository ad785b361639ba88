//! Tests of the rules about live sessions.

mod binding;
mod contract;
mod gadgets;
mod hashes;
mod oracle;
mod props;
mod public_samples;
mod reserved;
mod schema;
mod schema_limits;
mod subset;
mod version;
mod violation;
