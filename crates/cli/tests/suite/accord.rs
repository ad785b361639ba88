//! Running the `accord` command as a user would.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGHUP, SIGPIPE};

use crate::snapshot::unwrapped;
use crate::wait::output_of;

/// The state directory of the user who types the commands.
const STATE_FOLDER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/state");

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The command succeeded and printed nothing on standard error, except what it created.
    #[track_caller]
    pub(crate) fn yes(self) -> String {
        assert_eq!((self.code, self.messages().as_str()), (0, ""), "{}", self.stdout);
        self.stdout
    }

    /// The command refused, with this code and nothing on standard output.
    #[track_caller]
    pub(crate) fn refused(self, code: &str) -> String {
        assert_eq!(self.code, 2, "{self:?}");
        assert!(self.messages().starts_with(code), "{}", self.stderr);
        assert_eq!(self.stdout, "");
        unwrapped(&self.messages())
    }

    /// Standard error without the lines about what was created.
    pub(crate) fn messages(&self) -> String {
        let created = ["new data folder ", "new project ", "new store ", "first tasks of "];
        let is_new = |line: &&str| created.iter().any(|begins| line.starts_with(begins));
        let lines = self.stderr.split_inclusive('\n').filter(|line| !is_new(line));
        lines.collect()
    }

    /// The command ended because the reader of its output did, without a message.
    #[track_caller]
    pub(crate) fn closed(self) {
        assert_eq!((self.code, self.stderr.as_str()), (128 + SIGPIPE, ""), "{self:?}");
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().expect("accord was not killed"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

/// Runs `accord` with arguments and input.
#[track_caller]
pub(crate) fn accord(args: &[&str], input: impl AsRef<[u8]>) -> Ran {
    run(command(args), input)
}

/// Runs a command to its end, with input.
#[track_caller]
pub(crate) fn run(mut command: Command, input: impl AsRef<[u8]>) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("accord starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_ref().to_vec();
    std::thread::spawn(move || {
        // The command may end before it has read everything.
        let _ = stdin.write_all(&input);
    });
    output_of(child, format_args!("{command:?}")).into()
}

/// Runs a command whose standard output nobody reads.
#[track_caller]
pub(crate) fn run_with_closed_output(mut command: Command) -> Ran {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let child = command
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::piped())
        .spawn()
        .expect("accord starts");
    output_of(child, format_args!("{command:?}")).into()
}

/// Runs a shell script that starts the program as `"$ACCORD"`.
#[track_caller]
pub(crate) fn run_script(script: &str) -> Ran {
    let mut shell = Command::new("sh");
    shell.args(["-c", script]).env("ACCORD", program()).env("XDG_STATE_HOME", STATE_FOLDER);
    shell.env("ACCORD_WORKERS_SANDBOX", "off");
    run(shell, "")
}

/// The command, not yet started.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(args);
    // How texts are laid out must not depend on where the tests run.
    command.env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1");
    // The copies of governed runs must not go to the folder of the person who runs the tests.
    command.env("XDG_STATE_HOME", STATE_FOLDER);
    // Agents of tests write to folders of the test, outside of their work tree.
    command.env("ACCORD_WORKERS_SANDBOX", "off");
    command.env_remove("COLUMNS");
    command
}

/// The path of the program. Tests that start it through a shell use it too.
pub(crate) fn program() -> &'static str {
    reset_hangup_in_children();
    env!("CARGO_BIN_EXE_accord")
}

/// `PATH` with the folder of the program in front.
pub(crate) fn path_with_accord() -> OsString {
    let folder = Path::new(program()).parent().expect("a folder").to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).expect("folders without a colon")
}

/// Lets children start with the default for SIGHUP. Under `nohup` this process ignores it, and an
/// ignored signal is inherited; one with a handler is not.
fn reset_hangup_in_children() {
    static HANDLER: OnceLock<()> = OnceLock::new();
    HANDLER.get_or_init(|| {
        let received = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGHUP, received).expect("a handler");
    });
}
