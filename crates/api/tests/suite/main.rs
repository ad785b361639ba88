//! What operations promise: a client sends what a host reads, and reads what a host answers.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod calls;
mod declarations;
mod sample;
