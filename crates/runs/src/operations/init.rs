//! Makes a folder a governed repository. Existing files are not changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use accord_contract::text::pretty;
use accord_contract::{Code, Failure};
use accord_runs_core::patterns::slug;
use accord_runs_core::{Config, Result, State};

use crate::run_marker::RunMarker;
pub use crate::scaffold::{NewAgent, NewRole};
use crate::{Environment, Git, LockedRepository, Repository, own_path, scaffold};

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InitOptions {
    /// Its id; derived from the name if absent.
    pub project_id: Option<String>,
    /// Its name; that of the folder if absent.
    pub name: Option<String>,
    pub goal: Option<String>,
    /// The agent that does the turns of some roles; a person does all of them if absent.
    pub agent: Option<NewAgent>,
    pub commit: bool,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Initialized {
    pub root: PathBuf,
    pub written: Vec<String>,
    /// Files that existed and were not changed.
    pub kept: Vec<String>,
    pub commit: Option<String>,
    /// What is to be committed: files, and folders that were made for them. Empty without git.
    pub uncommitted: Vec<String>,
}

pub const COMMIT_MESSAGE: &str = "Govern the repository with Accord";

const FOLDERS: [&str; 2] = [".agentxchain", ".planning"];

const MAX_IGNORE: u64 = 1024 * 1024;

/// Makes a folder a governed repository. Fails with `already_governed` if it is one;
/// `records_missing` if it was one whose files are gone. `git_failed` if the files are to be
/// committed and that is not possible. Nothing is written then.
pub fn init(
    folder: &Path,
    options: &InitOptions,
    environment: &Environment,
) -> Result<Initialized> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let message = format!("{} could not be made: {error}", folder.display());
        Failure::new(Code::XchainFileSystemFailed, message)
    })?;
    let repository = Repository::open(folder)?;
    let refuse = || {
        let message = format!("{} has an agentxchain.json", repository.root().display());
        Failure::new(Code::XchainAlreadyGoverned, message)
    };
    if repository.is_governed()? {
        return Err(refuse());
    }
    // A new project must not take the place of one whose files are only stashed.
    let marker = RunMarker::of(repository.root());
    if let Some(lost) = marker.and_then(|marker| marker.lost_with_config(repository.root())) {
        return Err(lost);
    }
    let document = scaffold::config(&project(options, repository.root()), options.agent.as_ref());
    // Refuse now what the validation of the configuration would refuse later.
    let config = Config::read(document.clone().into())?;
    let git = Git::find(repository.root(), environment.cancel_token());
    let git = if options.commit { Some(committer(git?)?) } else { git.ok().flatten() };
    let is_new = |folder: &&str| !repository.root().join(folder).exists();
    let new_folders: Vec<&str> = FOLDERS.into_iter().filter(is_new).collect();
    let locked = repository.lock(environment.lock_timeout())?;
    let mut files = Files { locked: &locked, done: Initialized::default() };
    for (path, text) in scaffold::FILES {
        files.create(path, text.as_bytes())?;
    }
    for role in config.roles() {
        let path = format!(".agentxchain/prompts/{}.md", role.id);
        let text = scaffold::role_prompt(&role.title, &role.mandate);
        files.create(&path, text.as_bytes())?;
    }
    files.create(".agentxchain/state.json", pretty(&State::idle(&config).document()).as_bytes())?;
    files.ignore(&scaffold::IGNORED)?;
    // The configuration is written last: the folder is not governed without it, so the command can
    // be repeated after a failure.
    if !locked.create(&own_path("agentxchain.json")?, pretty(&document).as_bytes())? {
        return Err(refuse());
    }
    files.done.written.push("agentxchain.json".to_owned());
    let mut done = files.done;
    done.root = locked.root().to_owned();
    if let Some(git) = git {
        let ignored = git.ignored(&done.written)?;
        let is_kept = |file: &&String| !ignored.contains(*file);
        let files: Vec<String> = done.written.iter().filter(is_kept).cloned().collect();
        if options.commit {
            done.commit = git.commit(&files, COMMIT_MESSAGE)?;
        } else {
            done.uncommitted = in_folders(files, &ignored, &new_folders);
        }
    }
    Ok(done)
}

/// Checks that the files can be committed, before they are written.
fn committer(git: Option<Git>) -> Result<Git> {
    let git = git.ok_or_else(|| {
        let message = "the folder is in no git repository, so that nothing can be committed";
        Failure::new(Code::XchainGitFailed, message)
            .suggesting("git init, then the same command again; or leave --commit out")
    })?;
    git.check_identity()?;
    Ok(git)
}

/// Names a new folder instead of all its files.
fn in_folders(mut names: Vec<String>, ignored: &BTreeSet<String>, folders: &[&str]) -> Vec<String> {
    let below = |file: &str, folder: &str| {
        file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    let whole = |folder: &&&str| !ignored.iter().any(|file| below(file, folder));
    let folders: Vec<&str> = folders.iter().filter(whole).copied().collect();
    names.retain(|file| !folders.iter().any(|folder| below(file, folder)));
    names.extend(folders.iter().map(|folder| (*folder).to_owned()));
    names.sort();
    names
}

fn project(options: &InitOptions, root: &Path) -> scaffold::Project {
    let folder = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = options.name.clone().or(folder).unwrap_or_else(|| "project".to_owned());
    let made = Some(slug(&name)).filter(|made| !made.is_empty());
    let made = made.unwrap_or_else(|| "project".to_owned());
    let id = options.project_id.clone().unwrap_or(made);
    scaffold::Project { id, name, goal: options.goal.clone() }
}

struct Files<'a> {
    locked: &'a LockedRepository,
    done: Initialized,
}

impl Files<'_> {
    fn create(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        let list = if self.locked.create(&own_path(path)?, bytes)? {
            &mut self.done.written
        } else {
            &mut self.done.kept
        };
        list.push(path.to_owned());
        Ok(())
    }

    /// Adds the lines that an ignore file lacks.
    fn ignore(&mut self, lines: &[&str]) -> Result<()> {
        let path = own_path(scaffold::IGNORE_FILE)?;
        let bytes = self.locked.read(&path, MAX_IGNORE)?.unwrap_or_default();
        let known = String::from_utf8_lossy(&bytes).into_owned();
        let is_known = |line: &str| known.lines().any(|known| known.trim() == line);
        let missing: Vec<&str> = lines.iter().copied().filter(|line| !is_known(line)).collect();
        if missing.is_empty() {
            self.done.kept.push(path.to_string());
            return Ok(());
        }
        let mut text = bytes;
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        text.extend(missing.join("\n").into_bytes());
        text.push(b'\n');
        self.locked.write(&path, &text)?;
        self.done.written.push(path.to_string());
        Ok(())
    }
}
