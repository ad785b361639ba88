//! What operations promise: a client sends what a host reads, and reads what a host answers.

mod calls;
mod declarations;
mod sample;
