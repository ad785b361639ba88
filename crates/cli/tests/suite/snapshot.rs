//! What the command prints for people, compared with the files in `snapshots/`.
//!
//! A changed text fails its test. `INSTA_UPDATE=always cargo test -p accord-cli --test suite`
//! accepts what is printed now; the difference belongs into the commit. Nothing is accepted where
//! `CI` is set.

use insta::Settings;

use crate::accord::{Ran, program};

/// What differs from run to run, and what stands for it. More specific patterns come first.
const FILTERS: [(&str, &str); 18] = [
    // Temporary folders.
    (r"[^\s'\x22=:(]*/\.tmp[A-Za-z0-9]{6}", "[folder]"),
    // The folder of the copies of a repository, and a change that is kept in it.
    (r"accord/runs/tmp\w{6}-[0-9a-f]{16}", "accord/runs/[name]"),
    (r"kept/[0-9TZ-]+-[0-9a-f]{6}", "kept/[change]"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "[time]"),
    // Times of a list have seconds where they would look the same, which differs from run to run;
    // so does the width of their columns.
    (r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d(\.\d+)?)?Z", "[minute]"),
    (r"(\[minute\]|SINCE|UNTIL|STARTED|ENDED|MADE|EXPIRES|ARCHIVED|when) {2,}", "$1  "),
    (r"\b(pkg|fact|sess)_[0-9a-f]{32}", "${1}_[id]"),
    (r"\b(run|turn|evt|int)_[0-9a-z]{8,32}\b", "${1}_[id]"),
    (r"accord_[0-9a-f]{16}_\w+", "accord_[id]_[secret]"),
    (r"correlation id [0-9a-f]+", "correlation id [id]"),
    (r"(--ignore-submodules=dirty) [0-9a-f]{40}\b", "$1 [commit]"),
    (r"(?m)^(  commit   )[0-9a-f]{7,40} ", "$1[commit] "),
    (r"sha256:[0-9a-f]{12,64}", "sha256:[digest]"),
    (r"(evidence(?: is)?|--expect) +[0-9a-f]{64}\b", "$1 [digest]"),
    (r"127\.0\.0\.1:\d{5}", "127.0.0.1:[port]"),
    (r"\d+ filtered out", "[many] filtered out"),
    (r"\([\d.]+ ?m?s, exit code", "([duration], exit code"),
    (r"[ \t]+\n", "\n"),
];

/// Compares a text with the snapshot of this name.
#[track_caller]
pub(crate) fn check(name: &str, text: &str) {
    check_with(name, text, &[]);
}

/// The same, with further patterns that go before the others.
#[track_caller]
pub(crate) fn check_with(name: &str, text: &str, filters: &[(&str, &str)]) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (pattern, replacement) in filters.iter().chain(&FILTERS) {
        settings.add_filter(pattern, *replacement);
    }
    let text = unwrapped(text).replace(program(), "accord");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Joins the lines of an error message: where it is wrapped depends on the length of the folders in
/// it. Other text keeps its lines.
pub(crate) fn unwrapped(text: &str) -> String {
    if !format!("\n{text}").contains("\n  × ") {
        return text.to_owned();
    }
    let mut whole = String::new();
    for line in text.split_inclusive('\n') {
        let end = whole.trim_end_matches('\n').len();
        let continued = line.strip_prefix("  │ ").or(line.strip_prefix("        "));
        match continued {
            Some(rest) => {
                whole.truncate(end);
                whole.push(' ');
                whole.push_str(rest);
            }
            None => whole.push_str(line),
        }
    }
    whole
}

/// A session at a terminal: commands and what they printed, one after the other.
#[derive(Default)]
pub(crate) struct Transcript {
    text: String,
}

impl Transcript {
    /// Adds a command and everything that it printed.
    pub(crate) fn add(&mut self, command: &str, ran: &Ran) {
        let code = match ran.code {
            0 => String::new(),
            code => format!("[exit code {code}]\n"),
        };
        let stderr = unwrapped(&ran.stderr);
        let stderr: String = stderr.lines().map(|line| format!("! {line}\n")).collect();
        let stdout = ran.stdout.trim_end();
        let stdout = match stdout {
            "" => String::new(),
            text => format!("{text}\n"),
        };
        self.text.push_str(&format!("$ accord {command}\n{stdout}{stderr}{code}\n"));
    }

    /// Compares everything so far with the snapshot of this name.
    #[track_caller]
    pub(crate) fn check(self, name: &str) {
        check(name, &self.text);
    }

    /// The same, with further patterns that go before the others.
    #[track_caller]
    pub(crate) fn check_with(self, name: &str, filters: &[(&str, &str)]) {
        check_with(name, &self.text, filters);
    }
}
