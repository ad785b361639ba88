//! AOF/1: the rules of messages and tasks, and the tree of a case. The core answers a call. Steps
//! are performed by the services behind `accord task`, in a folder that the kit reads itself.
//!
//! Invariants: a step reports what the service answered; a tree that cannot be used is an error of
//! the adapter; a setting or an action that is not known is not implemented.

mod calls;
mod steps;

use parking_lot::Mutex;
use serde_json::{Value, json};

use self::steps::Work;
use crate::{Adapter, Answered, Call, Reply};

/// Accord's own implementation. It has the tree of one case open at a time.
#[derive(Default)]
pub struct Accord {
    work: Mutex<Option<Work>>,
}

impl Adapter for Accord {
    fn protocol(&self) -> &'static str {
        "aof"
    }

    fn perform(&self, call: &Call) -> Answered {
        call.allow_setup(&[])?;
        match call.operation.as_str() {
            "detect" => calls::detect_input(call),
            "completion_transitions" => calls::completion_transitions(call),
            "status_transition" => calls::status_transition(call),
            "status_transitions" => calls::status_transitions(call),
            "work_log_entry" => calls::work_log_entry(call),
            "is_stale" => calls::is_stale(call),
            _ => Ok(Reply::NotImplemented),
        }
    }

    fn has_steps(&self) -> bool {
        true
    }

    fn step(&self, request: &Value) -> Option<Value> {
        let mut work = self.work.lock();
        Some(match steps::perform(&mut work, request) {
            Ok(answer) => answer,
            Err(steps::Trouble::NotImplemented(what)) => {
                json!({"status": "not_implemented", "message": what})
            }
            Err(steps::Trouble::Error(why)) => json!({"status": "error", "message": why}),
        })
    }
}
