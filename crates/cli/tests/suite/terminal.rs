//! A pseudo-terminal, for commands that ask a person.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::undeclared::check_codes;
use crate::wait::exit_of;

/// What a command on a terminal printed there, and how it ended.
pub(crate) struct Session {
    pub(crate) code: i32,
    /// What the terminal showed: the standard error of the command, and what was typed.
    pub(crate) shown: String,
    pub(crate) stdout: String,
}

/// Runs a command whose standard input and error are a terminal, and types this once it asks a
/// question.
#[track_caller]
pub(crate) fn at_terminal(command: Command, typed: &str) -> Session {
    at_terminal_with(command, &[("[y/N] ", typed)])
}

/// The same command, in a session of its own whose controlling terminal is its standard input, as a
/// shell of a person has one. Systems without `setsid` do not show whether a process has one.
fn in_own_session(command: &Command) -> Command {
    let has_setsid = Command::new("setsid").arg("--version").output().is_ok();
    let mut started = match has_setsid {
        true => {
            let mut setsid = Command::new("setsid");
            setsid.args(["--ctty", "--wait"]).arg(command.get_program());
            setsid
        }
        false => Command::new(command.get_program()),
    };
    started.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        started.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => started.env(name, value),
            None => started.env_remove(name),
        };
    }
    started
}

/// Runs a command whose standard input and error are a terminal. Each text is typed once the
/// terminal shows its question, in order.
#[track_caller]
pub(crate) fn at_terminal_with(command: Command, answers: &[(&str, &str)]) -> Session {
    let mut command = in_own_session(&command);
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("a terminal");
    unlockpt(&ours).expect("a terminal");
    let name = ptsname(&ours, Vec::new()).expect("its name");
    let name = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
    let theirs = OpenOptions::new().read(true).write(true).open(name).expect("a terminal");
    let (mut stdout, output) = std::io::pipe().expect("a pipe");
    let mut child = command
        .stdin(theirs.try_clone().expect("a descriptor"))
        .stderr(theirs)
        .stdout(output)
        .spawn()
        .expect("accord starts");
    // The command has its own copies. Ours would keep the terminal and the pipe open.
    drop(command);
    let mut terminal = File::from(ours);
    let mut shown = Vec::new();
    let mut answers = answers.iter();
    let mut expected = answers.next();
    let mut bytes = [0; 1024];
    // A terminal without a writer is an error on Linux, and its end on other systems.
    while let Ok(1..) = terminal.read(&mut bytes).inspect(|read| {
        shown.extend_from_slice(&bytes[..*read]);
    }) {
        if let Some((question, typed)) = expected
            && shown.ends_with(question.as_bytes())
        {
            expected = answers.next();
            terminal.write_all(typed.as_bytes()).expect("it reads");
        }
    }
    let status = exit_of(&mut child, "a command at a terminal");
    check_codes(&shown);
    let mut text = String::new();
    stdout.read_to_string(&mut text).expect("text");
    Session {
        code: status.code().expect("it was not killed"),
        shown: String::from_utf8_lossy(&shown).replace("\r\n", "\n"),
        stdout: text,
    }
}
