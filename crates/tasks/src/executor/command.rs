//! The executor that starts the command of an agent: one thread and one process group per task.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use accord_contract::{Code, Failure};
use accord_process::Cancel;
use accord_tasks_core::TaskId;
use accord_tasks_core::briefing::{Audience, DEFAULT_TOKENS};
use parking_lot::Mutex;

use super::{Executor, Started};
use crate::Result;
use crate::operations::Claimed;
use crate::worker::{AgentCommand, WorkEnd, Worker};

type OnEnd = dyn Fn(&Worker, TaskId, &Result<WorkEnd>) + Send + Sync;

/// Starts the command of an agent for each task, in all trees of a host.
pub struct CommandExecutor {
    command: AgentCommand,
    /// How many agents run at once, in all trees.
    limit: usize,
    cancel: Cancel,
    on_end: Arc<OnEnd>,
    running: Arc<Mutex<HashMap<String, JoinHandle<()>>>>,
}

impl CommandExecutor {
    /// An executor that runs at most `limit` agents at once. `on_end` hears how each ended.
    pub fn new(
        command: AgentCommand,
        limit: usize,
        on_end: impl Fn(&Worker, TaskId, &Result<WorkEnd>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            command,
            limit,
            cancel: Cancel::new(),
            on_end: Arc::new(on_end),
            running: Arc::default(),
        }
    }

    pub fn running(&self) -> usize {
        self.running.lock().len()
    }

    fn begin(&self, worker: &Worker, claimed: Claimed, key: String) -> Result<()> {
        let id = claimed.task.task().id;
        let (worker, command) = (worker.clone(), self.command.clone());
        let (cancel, on_end) = (self.cancel.clone(), Arc::clone(&self.on_end));
        let (running, own) = (Arc::clone(&self.running), key.clone());
        // Locked until the thread is in the list, so that it cannot leave before it entered.
        let mut entered = self.running.lock();
        let work = move || {
            let briefing = worker.tree.briefing_for(&claimed);
            let ended = briefing.and_then(|briefing| {
                let text = briefing.text(Audience::Worker, None, DEFAULT_TOKENS);
                worker.work(&claimed, &command, &text, &cancel, &mut |_| {})
            });
            running.lock().remove(&own);
            on_end(&worker, id, &ended);
        };
        let thread = thread::Builder::new().name(format!("agent {id}")).spawn(work);
        let thread = thread.map_err(|error| {
            Failure::new(Code::AofTaskTreeUnavailable, format!("no thread for an agent: {error}"))
        })?;
        entered.insert(key, thread);
        Ok(())
    }
}

impl Executor for CommandExecutor {
    fn start(&self, worker: &Worker, task: TaskId) -> Result<Started> {
        if self.cancel.is_cancelled() || self.running() >= self.limit {
            return Ok(Started::Later);
        }
        let mut worker = worker.clone();
        worker.times = worker.tree.lease_times()?;
        let claimed = worker.claim(task)?;
        self.begin(&worker, claimed, format!("{} {task}", worker.root.display()))?;
        Ok(Started::Yes)
    }

    fn shut_down(&self) {
        self.cancel.cancel();
        let threads: Vec<_> = self.running.lock().drain().map(|(_, thread)| thread).collect();
        for thread in threads {
            // A thread that panicked has ended its group with it.
            drop(thread.join());
        }
    }
}
