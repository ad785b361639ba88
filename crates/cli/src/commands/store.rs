//! `accord store`: maintenance of a data folder.

use std::path::{Path, PathBuf};

use accord_api::operations::upkeep::{BackUp, BackupRequest, TrimEvents, TrimRequest};
use accord_api::{Call, Json, NoParams};
use accord_contract::{Code, Failure, Wire};
use accord_host::upkeep;

use super::answers::{CompactAnswer, RepairAnswer, RestoreAnswer};
use super::progress::Progress;
use crate::host::{FolderArgs, holds_data, holds_store, print_answer};
use crate::render::{clean, counted};
use crate::{CliError, Exit, Result, print_line};

subcommands! {
    /// Back up, restore, compact and repair a data folder
    pub(crate) StoreArgs, StoreCommand {
        Backup(BackupArgs),
        Restore(RestoreArgs),
        /// Rewrite the store without its unused space
        Compact(FolderArgs) => compact,
        /// Rebuild what the store derives: columns, counts, open questions, the search index
        #[command(after_help = REPAIRS)]
        Repair(FolderArgs) => repair,
        Trim(TrimArgs),
    }
}

/// Back up a data folder, also while a host serves it
#[derive(Debug, clap::Args)]
struct BackupArgs {
    /// The folder to write; it must be empty or not exist
    #[arg(value_name = "DIR")]
    to: PathBuf,

    #[command(flatten)]
    data: FolderArgs,
}

/// Restore a backup into a data folder that no host serves
#[derive(Debug, clap::Args)]
struct RestoreArgs {
    /// The folder that `accord store backup` wrote
    #[arg(value_name = "BACKUP")]
    from: PathBuf,

    /// Replace the store in the data folder
    #[arg(long)]
    replace: bool,

    #[command(flatten)]
    data: FolderArgs,
}

/// Delete old events; packages, facts and sessions stay
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["days", "before"]))]
struct TrimArgs {
    /// Delete events older than this number of days
    #[arg(long, value_name = "N")]
    days: Option<u64>,

    /// Delete events before this time or date
    #[arg(long, value_name = "TIME")]
    before: Option<String>,

    /// Only count the events
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    data: FolderArgs,
}

impl BackupArgs {
    fn run(self) -> Result<Exit> {
        let host = self.data.connect()?;
        // The host that serves the folder has another current folder.
        let to = std::path::absolute(&self.to).map_err(|error| {
            let message = format!("{} cannot be used: {error}", self.to.display());
            CliError::new(Code::OutputFailed, message)
        })?;
        let Some(path) = to.to_str() else {
            let message = format!("{} is not UTF-8", to.display());
            return Err(CliError::usage(message));
        };
        let body = Json(BackupRequest { to: path.to_owned() });
        let progress = Progress::items();
        progress.about("copying");
        // The place is a member of the request, which the command has no name for.
        let written = host.call_long(&Call::<BackUp>::new(NoParams, NoParams, body));
        let written = written.map_err(CliError::without_place)?;
        progress.finish();
        print_answer(self.data.json, &written, |page, Json(backup)| {
            let blobs = counted(backup.blobs, "blob");
            page.line(format!("{}: {} bytes, {blobs}", clean(path), backup.bytes));
        })
    }
}

impl RestoreArgs {
    fn run(self) -> Result<Exit> {
        let folder = self.data.folder()?;
        let restored = upkeep::restore(&self.from, &folder, self.replace);
        restored.map_err(|failure| self.explain(failure, &folder))?;
        let document = RestoreAnswer { restored: folder.display().to_string() };
        say(self.data.json, &document, || format!("restored into {}", folder.display()))
    }

    /// Adds help that depends on which of the two folders is wrong.
    fn explain(&self, failure: Failure, folder: &Path) -> CliError {
        match failure.code {
            Code::StoreOccupied => CliError::from(failure).help(format!(
                "--replace puts the backup in the place of the store in {}; a backup of that first \
                 keeps what it has",
                folder.display()
            )),
            Code::StoreMissing => {
                CliError::from(failure).help("name a folder that `accord store backup` wrote")
            }
            _ => stop_first(failure, folder),
        }
    }
}

fn compact(data: FolderArgs) -> Result<Exit> {
    let folder = data.folder()?;
    if has_only_tasks(&folder) {
        let document = CompactAnswer { bytes_before: 0, bytes_after: 0 };
        return say(data.json, &document, || nothing_there(&folder));
    }
    let compacted = upkeep::compact(&folder);
    let (before, after) = compacted.map_err(|failure| stop_first(failure, &folder))?;
    let document = CompactAnswer { bytes_before: before, bytes_after: after };
    say(data.json, &document, || format!("{before} bytes before, {after} now"))
}

/// Whether a data folder has no store yet: tasks are files.
fn has_only_tasks(folder: &Path) -> bool {
    holds_data(folder) && !holds_store(folder)
}

fn nothing_there(folder: &Path) -> String {
    format!("{} has tasks and no store yet: nothing to do", clean(&folder.display().to_string()))
}

fn repair(data: FolderArgs) -> Result<Exit> {
    let folder = data.folder()?;
    if has_only_tasks(&folder) {
        let document = RepairAnswer { sound: 0, set_aside: 0 };
        return say(data.json, &document, || nothing_there(&folder));
    }
    let progress = Progress::items();
    progress.about("copying the store");
    let repaired = upkeep::repair(&folder, &mut |done, total| {
        progress.about("packages");
        progress.reach(done, total);
    });
    progress.finish();
    let repaired = repaired.map_err(|failure| stop_first(failure, &folder))?;
    let document = RepairAnswer { sound: repaired.sound, set_aside: repaired.set_aside };
    say(data.json, &document, || {
        let sound = counted(repaired.sound, "package");
        match repaired.set_aside {
            0 => format!("{sound} sound"),
            aside => format!("{sound} sound, {aside} quarantined"),
        }
    })
}

impl TrimArgs {
    fn run(self) -> Result<Exit> {
        let host = self.data.connect()?;
        let (events_before, dry_run) = (self.before, Some(self.dry_run));
        let body = Json(TrimRequest { events_before, days: self.days, dry_run });
        let trimmed = host.call_long(&Call::<TrimEvents>::new(NoParams, NoParams, body))?;
        let done = if self.dry_run { "would be deleted" } else { "deleted" };
        print_answer(self.data.json, &trimmed, |page, Json(trimmed)| {
            page.line(format!("{} {done}", counted(trimmed.events, "event")));
            for project in &trimmed.projects {
                let id = clean(project.project_id.as_str());
                page.pieces(&[id, counted(project.events, "event")]);
            }
        })
    }
}

/// Adds help for a folder that a host serves, or that is no data folder.
fn stop_first(failure: Failure, folder: &Path) -> CliError {
    let (code, error) = (failure.code, CliError::from(failure));
    match code {
        Code::StoreLocked => {
            error.help(format!("a host serves {}: stop it, then try again", folder.display()))
        }
        Code::StoreMissing => error.help(
            "give a data folder with --data or ACCORD_DATA: the one that `accord serve --data` \
             uses",
        ),
        _ => error,
    }
}

fn say(json: bool, document: &impl Wire, text: impl FnOnce() -> String) -> Result<Exit> {
    print_line(if json { document.encode().to_string() } else { text() })
}

const REPAIRS: &str = "\
The text and the log of each package are checked. A package with a damaged text or log is
quarantined; facts, sessions, projects and events are not changed. The repair works on a copy, which
replaces the store at the end. `accord context verify` lists what is still damaged: restore it from
a backup.";
