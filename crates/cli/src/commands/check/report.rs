//! Who is told about a run.

use std::io::IsTerminal as _;

use accord_kit::reporter::{
    JsonReporter, JunitReporter, NdjsonReporter, TextOptions, TextReporter,
};
use accord_kit::{Protocol, Reporter, Reporters};

use super::CheckArgs;
use super::progress::Progress;
use crate::error::CliError;
use crate::output::Output;

/// How a run is reported.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(super) enum Format {
    /// Lines for people
    Text,
    /// One JSON document with everything
    Json,
    /// JUnit XML
    Junit,
    /// Events, one JSON object a line, as they happen
    Ndjson,
}

/// The reporters that the arguments ask for.
pub(super) fn reporters(
    args: &CheckArgs,
    protocol: &Protocol,
) -> Result<Reporters<'static>, CliError> {
    let mut all: Vec<Box<dyn Reporter>> = Vec::new();
    let on_terminal = std::io::stdout().is_terminal();
    if std::io::stderr().is_terminal() {
        all.push(Box::new(Progress::new()));
    }
    let text = |output: Output, colour: bool| {
        let mut options = TextOptions::new(colour);
        options.every_case = args.verbose;
        options.rerun = Some(rerun(args, protocol));
        TextReporter::new(output, options)
    };
    if args.output.is_some() && args.format != Format::Text {
        all.push(Box::new(text(Output::stdout(), on_terminal)));
    }
    let output = Output::to(args.output.as_deref())?;
    let colour = on_terminal && args.output.is_none();
    all.push(match args.format {
        Format::Text => Box::new(text(output, colour)),
        Format::Json => Box::new(JsonReporter::new(output)),
        Format::Junit => Box::new(JunitReporter::new(output)),
        Format::Ndjson => Box::new(NdjsonReporter::new(output)),
    });
    Ok(Reporters(all))
}

/// The command that runs one case of this run again.
fn rerun(args: &CheckArgs, protocol: &Protocol) -> String {
    let mut words = vec![
        "accord".to_owned(),
        "check".to_owned(),
        protocol.name().to_owned(),
    ];
    if let Some(command) = &args.command {
        words.extend(["--command".to_owned(), command.clone()]);
    }
    if args.lines {
        words.push("--lines".to_owned());
    }
    if let Some(corpus) = &args.corpus {
        words.extend(["--corpus".to_owned(), corpus.display().to_string()]);
    }
    format!("{} --filter 'id({{id}})'", shell_words::join(words))
}
