//! The executor that starts nothing: agents claim their tasks.

use accord_tasks_core::TaskId;

use super::{Executor, Started};
use crate::Result;
use crate::worker::Worker;

#[derive(Clone, Copy, Debug, Default)]
pub struct Manual;

impl Executor for Manual {
    fn start(&self, _: &Worker, _: TaskId) -> Result<Started> {
        Ok(Started::ByHand)
    }

    fn shut_down(&self) {}
}
