//! The program of an agent, and what is seen of it while it works.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use accord_contract::Code;
use accord_process::Invocation;
use accord_runs::agents::Preset;

use crate::commands::worker_output::WorkerOutput;
use crate::{CliError, Result, print_note};

/// The command of an agent, and its name if it is a known one.
#[derive(Clone, Debug)]
pub(super) struct AgentProgram {
    pub(super) argv: Vec<String>,
    pub(super) name: Option<&'static str>,
}

impl AgentProgram {
    /// Reads a known name, else the words of a command. The program must exist.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let (argv, preset) = match Preset::named(text) {
            Some(preset) => (preset.command(), Some(preset)),
            None => {
                let words = shell_words::split(text)
                    .map_err(|error| CliError::usage(format!("--agent cannot be read: {error}")))?;
                (words, None)
            }
        };
        let Some((program, arguments)) = argv.split_first() else {
            return Err(CliError::usage("--agent names no program"));
        };
        // Before a task is claimed for it.
        Invocation::new(program, arguments).locate().map_err(|error| {
            let refused = CliError::new(Code::AofAgentNotStarted, error.to_string());
            match preset {
                Some(preset) => refused.help(format!("npm install -g {}", preset.package)),
                None => refused.help("give a program that is on the PATH, or its path"),
            }
        })?;
        Ok(Self { name: preset.map(|preset| preset.name), argv })
    }
}

/// Writes the output of an agent to a log in the task's folder, and shows it.
pub(super) struct AgentOutput {
    log: Option<File>,
    lines: WorkerOutput,
    is_shown: bool,
}

/// The name of the agent in the output.
const AGENT: &str = "agent";

impl AgentOutput {
    pub(super) fn new(folder: &Path, run: &str, is_shown: bool) -> Self {
        // A new file: an agent could have put a pipe or a link there.
        let path = folder.join("work").join(format!("{run}.log"));
        let log = File::create_new(path).ok();
        Self { log, lines: WorkerOutput::default(), is_shown }
    }

    pub(super) fn add(&mut self, is_error: bool, bytes: &[u8]) {
        if let Some(log) = &mut self.log {
            // The log is for people; the work does not depend on it.
            let _ = log.write_all(bytes);
        }
        let lines = self.lines.add(AGENT, is_error, bytes);
        self.show(&lines);
    }

    pub(super) fn finish(&mut self) {
        let rest = self.lines.finish(AGENT);
        self.show(&rest);
    }

    fn show(&self, lines: &[String]) {
        for line in lines.iter().filter(|_| self.is_shown) {
            print_note(format!("  {line}"));
        }
    }
}
