//! `accord launch`: starts the program of a worker in a session of its own. `accord restrict`:
//! takes rights from itself, then becomes the program. `accord verify-mounts`: checks its mounts,
//! then becomes the program. Accord calls them.

use std::ffi::OsString;
use std::path::PathBuf;

use accord_base::worker::SECRETS;
use accord_contract::Code;
use accord_host::settings::Workers;
use accord_process::{Ending, ExpectedMounts, Invocation, LaunchOptions, Rights};

use crate::{CliError, Exit, Result};

/// Start the program of a worker in a session of its own, and end all that it leaves behind
#[derive(Debug, clap::Args)]
pub(super) struct LaunchArgs {
    /// The folder of the attempt, which is removed at the end
    #[arg(long, value_name = "DIR")]
    attempt: Option<PathBuf>,

    /// The file that names the processes of the worker
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// A program that may live on after the worker; can be repeated
    #[arg(long, value_name = "PROGRAM")]
    keep: Vec<String>,

    /// Another launcher started this one, which stays with what is kept
    #[arg(long)]
    keeper: bool,

    /// The program only starts the worker, and is not asked to end
    #[arg(long)]
    wrapped: bool,

    /// The program may finish if this process's parent is killed
    #[arg(long)]
    finish: bool,

    /// A mount of the sandbox that must stay; can be repeated
    #[arg(long, value_name = "PATH")]
    held: Vec<PathBuf>,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl LaunchArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let options = LaunchOptions {
            attempt: self.attempt,
            record: self.record,
            keep: self.keep,
            is_keeper: self.keeper,
            is_wrapped: self.wrapped,
            finishes: self.finish,
            held: self.held,
        };
        let ending = accord_process::launch(&invocation(self.words), &options)
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

/// Start the program of a worker with rights to read and change only these files
#[derive(Debug, clap::Args)]
pub(super) struct RestrictArgs {
    /// What it may read, with all that is below
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,

    /// What it may read and change, with all that is below
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl RestrictArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let rights = Rights { read: self.read, write: self.write };
        let error = accord_process::restrict(&rights, &invocation(self.words));
        Err(CliError::new(Code::AofAgentNotStarted, format!("landlock: {error}")))
    }
}

/// Check the mounts of a sandbox, then start the program of a worker in it
#[derive(Debug, clap::Args)]
pub(super) struct VerifyMountsArgs {
    /// A file or folder that must be this one: DEVICE:INODE:PATH
    #[arg(long, value_name = "IDENTITY")]
    same: Vec<OsString>,

    /// A folder that must be a mount of its own
    #[arg(long, value_name = "DIR")]
    apart: Vec<PathBuf>,

    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

impl VerifyMountsArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let expected = ExpectedMounts { same: self.same, apart: self.apart };
        let error = accord_process::verify_mounts(&expected, &invocation(self.words));
        Err(CliError::new(Code::AofAgentNotStarted, format!("bubblewrap: {error}")))
    }
}

fn invocation(words: Vec<OsString>) -> Invocation {
    let mut words = words.into_iter();
    Invocation::new(words.next().unwrap_or_default(), words)
}

/// Lets workers of this process be started by this command, under these settings.
pub(super) fn use_launcher(workers: &Workers) {
    let hidden = SECRETS.iter().map(|name| (*name).to_owned());
    let hidden = hidden.chain(workers.hide_env.iter().cloned());
    accord_process::hide_from_workers(hidden.collect());
    accord_process::keep_after_workers(workers.keep.clone());
    // The program of this process, also if an update has replaced its file.
    #[cfg(target_os = "linux")]
    let program = Some(PathBuf::from("/proc/self/exe"));
    #[cfg(not(target_os = "linux"))]
    let program = std::env::current_exe().ok();
    if let Some(program) = program {
        accord_process::set_launcher(program);
    }
}
