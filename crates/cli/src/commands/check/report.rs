//! The reports of a run.

use std::io::{BufWriter, IsTerminal as _};

use accord_kit::reporter::{
    JsonReporter, JunitReporter, NdjsonReporter, TextOptions, TextReporter,
};
use accord_kit::{Protocol, Reporter, Reporters};

use super::CheckArgs;
use super::progress::Progress;
use crate::output::PendingFile;
use crate::{Output, Result};

/// The format of a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(super) enum Format {
    /// Text for people
    Text,
    /// One JSON document with everything
    Json,
    /// JUnit XML
    Junit,
    /// Events, one JSON object per line, as they happen
    Ndjson,
}

/// The reporters of a run, and the file that is kept if the run completes.
pub(super) struct Reports {
    pub(super) reporters: Reporters<'static>,
    pub(super) file: Option<PendingFile>,
}

pub(super) fn reports(args: &CheckArgs, protocol: &Protocol) -> Result<Reports> {
    let progress = std::io::stderr().is_terminal().then(Progress::new);
    let mut options = TextOptions::new(false);
    options.every_case = args.verbose;
    options.rerun = Some(rerun(args, protocol));
    options.removal = args.implementation.removal();
    let mut all: Vec<Box<dyn Reporter>> = Vec::new();
    // Text is for standard output, unless it has a file, or standard output is
    // taken by another format.
    if (args.format == Format::Text) == args.output.is_none() {
        let mut options = options.clone();
        options.colour = crate::render::colours();
        let stdout = Output::stdout();
        all.push(match &progress {
            Some(progress) if std::io::stdout().is_terminal() => {
                Box::new(TextReporter::new(BufWriter::new(progress.above(stdout)), options))
            }
            _ => Box::new(TextReporter::new(stdout, options)),
        });
    }
    let mut file = None;
    if args.output.is_some() || args.format != Format::Text {
        let output = match &args.output {
            None => Output::stdout(),
            // Events can be followed as they happen, so the file is written directly.
            Some(path) if args.format == Format::Ndjson => Output::direct(path)?,
            Some(path) => {
                let (output, pending) = Output::pending(path)?;
                file = Some(pending);
                output
            }
        };
        all.push(match args.format {
            Format::Text => Box::new(TextReporter::new(output, options)),
            Format::Json => Box::new(JsonReporter::new(output)),
            Format::Junit => Box::new(JunitReporter::new(output)),
            Format::Ndjson => Box::new(NdjsonReporter::new(output)),
        });
    }
    // Last, so that the bar is drawn again below what was just written.
    if let Some(progress) = progress {
        all.push(Box::new(progress));
    }
    Ok(Reports { reporters: Reporters(all), file })
}

/// The command that runs one case of this run again.
fn rerun(args: &CheckArgs, protocol: &Protocol) -> String {
    let mut words = vec!["accord".to_owned(), "check".to_owned(), protocol.name().to_owned()];
    words.extend(args.implementation.flags());
    if let Some(limit) = args.case_timeout {
        words.extend(["--case-timeout".to_owned(), format!("{}ms", limit.as_millis())]);
    }
    if args.allow_self_reported {
        words.push("--allow-self-reported".to_owned());
    }
    if let Some(corpus) = &args.corpus {
        words.extend(["--corpus".to_owned(), corpus.display().to_string()]);
    }
    if let Some(profile) = &args.select.profile {
        words.extend(["--profile".to_owned(), profile.clone()]);
    }
    let keys = args.implementation.key_flags();
    format!("{}{keys} --filter 'id({{id}})'", shell_words::join(words))
}
