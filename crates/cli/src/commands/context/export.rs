//! `accord context export`.

use std::path::PathBuf;

use accord_api::{Call, NoBody, NoParams};
use accord_base::ProjectId;
use accord_contract::Wire as _;
use accord_memory_core::operations::ExportProject;
use hyper::header::CONTENT_LENGTH;

use super::super::answers::ExportAnswer;
use super::super::progress::Progress;
use crate::host::{Connection, HostRequest, ProjectArg, TargetArgs, in_project};
use crate::render::counted;
use crate::{Exit, Output, Result, print_line, print_note};

/// Export whole projects as lines of JSON that any host can import
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// Export every project, with archived ones
    #[arg(long, conflicts_with = "project")]
    all: bool,

    /// The file to write, replaced only when the export is complete [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long, requires = "output")]
    json: bool,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    target: TargetArgs,
}

impl ExportArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let host = self.target.connect(crate::host::IfMissing::Fail)?;
        let projects = if self.all {
            let (projects, damaged) = host.every_project()?;
            // The contents of a project can be exported even if its own record is damaged.
            let ids = projects.into_iter().map(|project| project.project_id).chain(damaged);
            ids.map(ProjectId::into_string).collect()
        } else {
            vec![self.project.required(&self.target, &host)?]
        };
        let (mut output, file) = match &self.output {
            None => (Output::stdout(), None),
            Some(path) => Output::pending(path).map(|(output, file)| (output, Some(file)))?,
        };
        let progress = Progress::bytes(self.output.is_some());
        let mut written = ExportAnswer { projects: 0, lines: 0, bytes: 0, damaged: 0 };
        for (number, project) in projects.iter().enumerate() {
            let label = match projects.len() {
                1 => project.clone(),
                all => format!("{project} ({} of {all})", number + 1),
            };
            // The host reads the whole project before it sends the first line.
            progress.about(&format!("reading {label}"));
            let exported =
                write(&host, project, projects.len() == 1, &mut output, &progress, &mut written);
            host.runtime.block_on(exported)?;
            written.projects += 1;
        }
        progress.finish();
        output.finish()?;
        if let Some(file) = file {
            file.keep()?;
            self.tell(&written)?;
        }
        if written.damaged > 0 {
            let damaged = counted(written.damaged, "package");
            let how = "damaged and left out; `accord context verify` lists them";
            print_note(format!("{damaged} {how}"));
        }
        Ok(Exit::from_answer(written.damaged == 0))
    }

    fn tell(&self, written: &ExportAnswer) -> Result<()> {
        if self.json {
            return print_line(written.encode().to_string()).map(drop);
        }
        let (lines, projects) =
            (counted(written.lines, "line"), counted(written.projects, "project"));
        print_note(format!("exported {lines} of {projects}"));
        Ok(())
    }
}

async fn write(
    host: &Connection,
    project: &str,
    is_only: bool,
    output: &mut Output,
    progress: &Progress,
    written: &mut ExportAnswer,
) -> Result<()> {
    let call = Call::<ExportProject>::new(in_project(project)?, NoParams, NoBody);
    let mut answer = host.stream(HostRequest::from(call.encode()).takes_long()).await?;
    let number =
        |name: &str| -> Option<u64> { answer.headers.get(name)?.to_str().ok()?.parse().ok() };
    // With several projects, the total size is unknown.
    progress.expect(number(CONTENT_LENGTH.as_str()).filter(|_| is_only));
    written.damaged += number("x-integrity-warnings").unwrap_or(0);
    let mut last = b'\n';
    while let Some(piece) = answer.next().await? {
        output.bytes(&piece)?;
        let lines = piece.iter().filter(|byte| **byte == b'\n').count();
        written.lines += lines as u64;
        written.bytes += piece.len() as u64;
        last = piece.last().copied().unwrap_or(last);
        progress.advance(piece.len() as u64);
    }
    // A last line without a line end must not run into the next project.
    if last != b'\n' {
        output.bytes(b"\n")?;
        written.lines += 1;
        written.bytes += 1;
    }
    Ok(())
}
