//! Running the `accord` command as a user would.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// What a command gave back.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// The command did what was asked, and said nothing beside.
    #[track_caller]
    pub(crate) fn yes(self) -> String {
        assert_eq!(
            (self.code, self.stderr.as_str()),
            (0, ""),
            "{}",
            self.stdout
        );
        self.stdout
    }

    /// The command refused, with this code and nothing on standard output.
    #[track_caller]
    pub(crate) fn refused(self, code: &str) -> String {
        assert_eq!(self.code, 2, "{self:?}");
        assert!(self.stderr.starts_with(code), "{}", self.stderr);
        assert_eq!(self.stdout, "");
        self.stderr
    }
}

/// Runs `accord` with arguments and input.
pub(crate) fn accord(args: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut child = command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("accord starts");
    // It may rightly end before it has read everything.
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.as_ref().to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("accord ends");
    writer.join().expect("the writer ends");
    Ran {
        code: output.status.code().expect("accord was not killed"),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// The command, not yet started.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(args);
    command
}

/// Where the program lies.
pub(crate) fn program() -> &'static str {
    env!("CARGO_BIN_EXE_accord")
}
