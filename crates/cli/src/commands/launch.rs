//! `accord launch`: starts the program of a worker in a session of its own. Accord calls it.

use std::ffi::OsString;

use accord_base::worker::SECRETS;
use accord_contract::Code;
use accord_process::{Ending, Invocation};

use crate::{CliError, Exit, Result};

/// Start the program of a worker in a session of its own, and end all that it leaves behind
#[derive(Debug, clap::Args)]
pub(super) struct LaunchArgs {
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl LaunchArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let mut words = self.words.into_iter();
        let worker = Invocation::new(words.next().unwrap_or_default(), words);
        let ending = accord_process::launch(&worker)
            .map_err(|error| CliError::new(Code::AofAgentNotStarted, error.to_string()))?;
        Ok(match ending {
            Ending::Exited(code) => Exit::Other(u8::try_from(code).unwrap_or(u8::MAX)),
            Ending::Signalled(signal) => {
                accord_process::end_by(signal);
                Exit::Signalled(signal)
            }
            Ending::Unreaped => Exit::Error,
        })
    }
}

/// Lets workers of this process be started by this command.
pub(super) fn use_launcher() {
    accord_process::hide_from_workers(SECRETS.map(str::to_owned).into());
    // The program of this process, also if an update has replaced its file.
    #[cfg(target_os = "linux")]
    let program = Some(std::path::PathBuf::from("/proc/self/exe"));
    #[cfg(not(target_os = "linux"))]
    let program = std::env::current_exe().ok();
    if let Some(program) = program {
        accord_process::set_launcher([program.into_os_string(), "launch".into(), "--".into()]);
    }
}
