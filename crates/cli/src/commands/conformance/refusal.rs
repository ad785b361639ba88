//! The document of `accord conformance check --format json` when there is no report.
//!
//! Invariant: with --format json there is always a document, even for wrong arguments.

use std::ffi::OsString;

use serde_json::json;

use crate::error::CliError;
use crate::output::Output;

/// Writes the document of a failed run.
pub(crate) fn write(message: &str) -> Result<(), CliError> {
    let refusal = json!({"overall": "error", "message": message});
    let mut output = Output::stdout();
    output.line(format!("{refusal:#}"))?;
    output.finish()
}

/// Whether the arguments, which may be invalid otherwise, ask for a document.
pub(crate) fn is_wanted(args: impl IntoIterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.into_iter().skip(1).collect();
    let words: Vec<&str> = args.iter().map(|arg| arg.to_str().unwrap_or("")).collect();
    let [name, command, flags @ ..] = &words[..] else {
        return false;
    };
    let is_verifier = NAMES.contains(&(*name, *command));
    // Read by hand, because the parser has refused the arguments and gives no values.
    let says_json = flags.contains(&"--format=json")
        || flags.windows(2).any(|pair| pair == ["--format", "json"]);
    is_verifier && says_json
}

/// The parser's message about wrong arguments, without the usage.
pub(crate) fn sentence(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let words: Vec<&str> = lines.map(str::trim).collect();
    let sentence = words.join(" ");
    let message = sentence.strip_prefix("error: ");
    message.unwrap_or(&sentence).to_owned()
}

/// The two names of the verifier.
const NAMES: [(&str, &str); 2] = [("conformance", "check"), ("verify", "protocol")];
