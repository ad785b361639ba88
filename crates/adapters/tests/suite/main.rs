//! Tests of Accord's adapters, and of the kit by their seeded faults.

mod agentxchain;
mod answering;
mod aof;
mod core_fixtures;
mod faults;
mod ggui;
mod in_memory;
mod judged;
