//! Tests of Accord's adapters, and of the kit by their seeded faults.

mod agentxchain;
mod answering;
mod faults;
mod judged;
