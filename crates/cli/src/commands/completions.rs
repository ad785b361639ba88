//! `accord completions`: scripts that complete commands in a shell.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::Cli;
use crate::{Exit, Output, Result};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "accord", &mut script);
        let mut output = Output::stdout();
        output.bytes(&script)?;
        output.finish()
    }
}
