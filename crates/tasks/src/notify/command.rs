//! A receiver that is a program. It gets the notification on standard input.

use std::time::Duration;

use accord_process::{Cancel, Ending, Invocation, Spec, run};

use super::{Receiver, TaskNotification, body};

/// Starts a program for each notification: a list of arguments, no shell.
#[derive(Clone, Debug)]
pub struct CommandReceiver {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// How long it may run.
    pub time_limit: Duration,
}

impl CommandReceiver {
    /// A program that may run for ten seconds.
    pub fn new(argv: Vec<String>) -> Self {
        Self { argv, time_limit: Duration::from_secs(10) }
    }
}

impl Receiver for CommandReceiver {
    fn name(&self) -> &'static str {
        "command"
    }

    fn deliver(&mut self, notice: &TaskNotification, cancel: &Cancel) -> Result<(), String> {
        let Some((program, arguments)) = self.argv.split_first() else {
            return Err("the command is empty".to_owned());
        };
        let invocation = Invocation::new(program, arguments)
            .env("ACCORD_NOTICE_ID", &notice.id)
            .env("ACCORD_NOTICE_TASK", notice.task_id.to_string())
            .env("ACCORD_NOTICE_STATUS", notice.to.as_str());
        let spec = Spec::new(invocation)
            .stdin(body(notice))
            .time_limit(self.time_limit)
            .stderr_limit(500)
            .cancel(cancel.clone());
        let outcome = run(&spec).map_err(|error| error.to_string())?;
        match outcome.ending {
            _ if outcome.timed_out => {
                Err(format!("it was ended after {} ms", self.time_limit.as_millis()))
            }
            Ending::Exited(0) => Ok(()),
            ending => {
                let errors = String::from_utf8_lossy(&outcome.stderr);
                Err(format!("it ended ({ending}): {}", errors.trim()))
            }
        }
    }
}
