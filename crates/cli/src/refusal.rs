//! How a command reports that it gives no answer.
//!
//! Invariants:
//! - people read it on standard error, always;
//! - a program that asked for JSON reads a document on standard output, also for wrong arguments;
//! - a reader that closed the output, such as `head`, gets no message.

use std::ffi::OsString;
use std::io::Write as _;

use accord_contract::{Code, Wire as _};
use miette::MietteHandlerOpts;
use serde_json::json;
use signal_hook::consts::SIGPIPE;
use textwrap::{WordSeparator, WordSplitter};

use crate::{CliError, Exit, Result, print_line};

/// The document on standard output.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Document {
    None,
    /// An `ErrorEnvelope` on one line.
    Envelope,
    /// The report of the protocol's own verifier, which `accord conformance check` keeps.
    ConformanceReport,
}

pub(crate) fn report(error: CliError) -> Exit {
    // Not a failure of this command: as if the signal had ended it, which it does to other tools.
    if error.is_closed_output() {
        return Exit::Signalled(SIGPIPE);
    }
    let written = write_document(&error);
    wrap_between_words();
    // A closed standard error is ignored: the exit code says the same.
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(stderr, "{:?}", miette::Report::new(error));
    if let Err(unwritten) = written
        && !unwritten.is_closed_output()
    {
        let _ = writeln!(stderr, "{:?}", miette::Report::new(unwritten));
    }
    Exit::Error
}

/// Wraps messages only where they have a space: a person copies ids, paths and commands, which have
/// hyphens and slashes.
fn wrap_between_words() {
    // It fails if it was called before, with the same options.
    let _ = miette::set_hook(Box::new(|_| {
        let options = MietteHandlerOpts::new().break_words(false);
        let options = options.word_separator(WordSeparator::AsciiSpace);
        Box::new(options.word_splitter(WordSplitter::NoHyphenation).build())
    }));
}

/// Prints --help and --version, or what is wrong with the arguments.
pub(crate) fn report_usage(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        return match error.print().and_then(|()| std::io::stdout().flush()) {
            Ok(()) => Exit::Yes,
            Err(error) => report(CliError::from_output(error)),
        };
    }
    // The parser's own text has no code.
    let _ = writeln!(std::io::stderr().lock(), "{}\n", Code::Usage.as_str());
    let _ = error.print();
    match write_document(&CliError::usage(sentence(error))) {
        Err(error) => report(error),
        Ok(()) => Exit::Error,
    }
}

/// Writes the document of an error, if the arguments ask for one.
fn write_document(error: &CliError) -> Result<()> {
    let line = match wanted(std::env::args_os()) {
        Document::None => return Ok(()),
        Document::Envelope => error.envelope().encode().to_string(),
        Document::ConformanceReport => {
            format!("{:#}", json!({"overall": "error", "message": error.to_string()}))
        }
    };
    print_line(line).map(drop)
}

/// The document that the arguments ask for. Read by hand, because the parser may have refused them
/// and then gives no values.
fn wanted(args: impl IntoIterator<Item = OsString>) -> Document {
    // After `--` there are only values, and a value can be called --json.
    let words = args.into_iter().skip(1).take_while(|word| word != "--");
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let says_json = words.iter().any(|word| *word == "--json" || word.starts_with("--json="));
    let says_format = words.contains(&"--format=json")
        || words.windows(2).any(|pair| pair == ["--format", "json"]);
    match (words.as_slice(), says_json, says_format) {
        // Its output is the fixture protocol.
        (["adapter", ..], _, _) => Document::None,
        (["conformance", "check", ..] | ["verify", "protocol", ..], _, true) => {
            Document::ConformanceReport
        }
        (_, true, _) | (["check" | "compat", ..], _, true) => Document::Envelope,
        _ => Document::None,
    }
}

/// The parser's message about wrong arguments, without the usage.
fn sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let sentence = lines.map(str::trim).collect::<Vec<_>>().join(" ");
    sentence.strip_prefix("error: ").unwrap_or(&sentence).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_say_which_document_is_wanted() {
        let of = |line: &str| wanted(line.split(' ').map(OsString::from));
        for (line, document) in [
            ("accord project list --json", Document::Envelope),
            ("accord run stage --json --nope", Document::Envelope),
            ("accord compat a b --format json", Document::Envelope),
            ("accord check alx --format=json", Document::Envelope),
            ("accord check alx --format junit", Document::None),
            ("accord conformance check --format json", Document::ConformanceReport),
            ("accord verify protocol --format=json", Document::ConformanceReport),
            ("accord conformance check", Document::None),
            ("accord adapter alx --json", Document::None),
            ("accord fact assert a b -- --json", Document::None),
            ("accord serve", Document::None),
        ] {
            assert_eq!(of(line), document, "{line}");
        }
    }
}
