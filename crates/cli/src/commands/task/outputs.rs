//! `accord task outputs`: the files that agents left.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use accord_api::{Call, NoBody};
use accord_tasks_core::operations::{
    FileQuery, OutputsAnswer, OutputsQuery, ReadTaskFile, TaskOutputs,
};

use super::place::{Place, PlaceArgs};
use crate::host::HostRequest;
use crate::render::{self, Page, clean, counted};
use crate::{CliError, Exit, Output, Result, print_note};

/// How many digits of a digest are shown.
const DIGITS: usize = 12;

/// List the outputs of a task, or print one of them
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct OutputsArgs {
    /// The task
    id: String,

    /// A file in outputs/ or inputs/, whose bytes are printed
    path: Option<String>,

    /// The file to write, replaced only when all of it is there [default: standard output]
    #[arg(short, long, value_name = "FILE", requires = "path")]
    output: Option<PathBuf>,

    /// Show what the agent changed in its repository on another machine
    #[arg(long, conflicts_with = "path")]
    diff: bool,

    /// List the inputs in place of the outputs
    #[arg(long, conflicts_with_all = ["path", "diff"])]
    inputs: bool,

    /// List the files after this one
    #[arg(long, value_name = "PATH", conflicts_with_all = ["path", "diff"])]
    after: Option<String>,

    #[command(flatten)]
    place: PlaceArgs,
}

impl OutputsArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let place = self.place.open()?;
        let Some(path) = self.path else {
            let query = OutputsQuery { changes: self.diff, inputs: self.inputs, after: self.after };
            let answered = place.host.ask::<TaskOutputs>(place.task(&self.id)?, query)?;
            let render: fn(&mut Page, &OutputsAnswer) = if self.diff { differences } else { list };
            return place.print(answered, render);
        };
        if place.json {
            let message = "--json is for the list: the bytes of a file are printed as they are";
            return Err(CliError::usage(message));
        }
        if self.output.is_none() && std::io::stdout().is_terminal() {
            return show(&place, &self.id, path);
        }
        let (mut output, file) = match &self.output {
            None => (Output::stdout(), None),
            Some(path) => Output::pending(path).map(|(output, file)| (output, Some(file)))?,
        };
        read(&place, &self.id, path, &mut |piece| output.bytes(piece))?;
        output.finish()?;
        file.map_or(Ok(()), |file| file.keep().map(drop))?;
        Ok(Exit::Yes)
    }
}

/// Prints a text on a terminal, which the text cannot control.
fn show(place: &Place, id: &str, path: String) -> Result<Exit> {
    let mut bytes = Vec::new();
    read(place, id, path, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(CliError::usage("the file is no text; write it to a file with --output FILE"));
    };
    let mut output = Output::stdout();
    for line in text.lines() {
        output.line(clean(line))?;
    }
    output.finish()
}

/// Reads a file of a task piece by piece.
pub(super) fn read(
    place: &Place,
    id: &str,
    path: String,
    take: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let query = FileQuery { path, offset: None };
    let call = Call::<ReadTaskFile>::new(place.task(id)?, query, NoBody);
    let request = HostRequest::from(call.encode());
    place.host.runtime.block_on(async {
        let mut answer = place.host.stream(request).await?;
        while let Some(piece) = answer.next().await? {
            take(&piece)?;
        }
        Ok(())
    })
}

fn list(page: &mut Page, answer: &OutputsAnswer) {
    let row = |output: &accord_tasks_core::operations::OutputView| {
        let digest = output.sha256.as_deref().unwrap_or("not read");
        let digest = digest.chars().take(DIGITS).collect();
        vec![clean(&output.path), output.bytes.to_string(), digest]
    };
    let rows: Vec<Vec<String>> = answer.outputs.iter().map(row).collect();
    render::table(page, &["FILE", "BYTES", "SHA-256"], &rows);
    if rows.is_empty() {
        print_note(format!("{} has no outputs", answer.task_id));
    }
    if answer.hidden > 0 {
        print_note(format!("{} left out: links, and more files", counted(answer.hidden, "entry")));
    }
    if let Some(next) = &answer.next {
        print_note(format!("next page: --after {}", clean(&shell_words::quote(next))));
    }
}

fn differences(page: &mut Page, answer: &OutputsAnswer) {
    let Some(changes) = &answer.changes else {
        let why = "no agent worked on it in a repository on another machine";
        return print_note(format!("no changes of {} are recorded: {why}", answer.task_id));
    };
    if let Some(by) = &answer.changes_said_by {
        page.line(format!("so says the machine of {}, and not seen by this host", clean(by)));
    }
    for file in &changes.files {
        let what = match (file.size, file.binary) {
            (None, _) => "removed, or not read".to_owned(),
            (Some(size), Some(true)) => format!("{}, no text", counted(size, "byte")),
            (Some(size), _) => counted(size, "byte"),
        };
        page.line(format!("{} ({what})", clean(&file.path)));
        for line in file.diff.iter().flat_map(|diff| diff.lines()) {
            page.line(format!("  {}", clean(line)));
        }
    }
    for cut in changes.cuts.iter().flatten() {
        page.line(format!("cut: {}", clean(cut)));
    }
}

const EXAMPLES: &str = "\
Examples:
  accord task outputs 001
  accord task outputs 001 result.txt
  accord task outputs 001 report.pdf --output report.pdf";
