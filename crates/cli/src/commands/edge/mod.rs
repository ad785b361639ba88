//! `accord join`, `accord leave` and `accord edge`: work trees that are joined to a project of a
//! hub, and what they send.

mod after;
mod applies;
mod follow;
mod hub;
mod join;
mod leave;
mod status;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use accord_contract::{Code, Failure};
use accord_edge::{Edges, Joined, Source, sources_in};
use miette::Diagnostic;

use crate::host::{attempt_socket, check_person};
use crate::render::clean;
use crate::{CliError, Result, print_note};

pub(crate) use self::after::send_after;
pub(crate) use self::applies::{apply_during, apply_here, stop_during};
pub(crate) use self::follow::EdgeArgs;
pub(crate) use self::join::JoinArgs;
pub(crate) use self::leave::LeaveArgs;
pub(crate) use self::status::lines_here;

/// The work tree.
#[derive(Clone, Debug, clap::Args)]
struct TreeArgs {
    /// The governed repository or the task tree; the current folder, or the nearest one above it,
    /// if absent
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
}

impl TreeArgs {
    fn folder(&self) -> PathBuf {
        self.repo.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    /// The sources of the folder. Fails without one.
    fn sources(&self) -> Result<Vec<Source>> {
        let folder = self.folder();
        let sources = sources_in(&folder)?;
        if sources.is_empty() {
            let shown = folder.canonicalize().unwrap_or(folder);
            let message = format!("{} has no governed repository and no tasks", shown.display());
            return Err(CliError::new(Code::XchainNotGoverned, message).help(
                "run this in one, or name it with --repo; `accord run init` and `accord task \
                 init --root . --project ID` make one",
            ));
        }
        Ok(sources)
    }

    /// The sources of the folder that are joined. Fails if none is.
    fn joined(&self, edges: &Edges) -> Result<Vec<(Source, Joined)>> {
        let found = joined_of(edges, self.sources()?)?;
        if found.is_empty() {
            return Err(not_joined(&self.folder()));
        }
        Ok(found)
    }
}

/// Says once that a mark was changed, so that nothing is sent and nothing of the hub is applied.
fn note_changed_mark(refused: &CliError) {
    static NOTED: AtomicBool = AtomicBool::new(false);
    let is_it = refused.code() == Some(Code::EdgeMarkChanged);
    if is_it && !NOTED.swap(true, Ordering::SeqCst) {
        print_note(clean(&format!("warning: {}", changed_mark(refused))));
    }
}

/// A changed mark in one line: code, what was found, and what to do.
fn changed_mark(refused: &CliError) -> String {
    let help = Diagnostic::help(refused).map(|help| format!("; {help}")).unwrap_or_default();
    format!("{}: {refused}{help}", Code::EdgeMarkChanged)
}

fn joined_of(edges: &Edges, sources: Vec<Source>) -> Result<Vec<(Source, Joined)>> {
    let mut found = Vec::new();
    for source in sources {
        if let Some(joined) = edges.find(source.root(), source.kind())? {
            found.push((source, joined));
        }
    }
    Ok(found)
}

fn not_joined(folder: &Path) -> CliError {
    let shown = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let message = format!("{} is not joined to a hub", shown.display());
    let failure = Failure::new(Code::NotJoined, message);
    failure.suggesting("join it: accord join URL --project ID").into()
}

/// A worker joins and leaves nothing, and sends nothing.
fn must_be_person() -> Result<()> {
    if attempt_socket().is_some() {
        let message = "a worker does not join work trees, and does not send for them";
        return Err(CliError::new(Code::NotForWorkers, message)
            .help("a person runs this command in a shell that no worker started"));
    }
    check_person()
}

/// What a source is, for people.
fn kind_of(source: accord_edge::SourceKind) -> &'static str {
    match source {
        accord_edge::SourceKind::Runs => "governed repository",
        accord_edge::SourceKind::Tasks => "task tree",
    }
}
