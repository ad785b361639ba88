//! Makes a folder a governed repository. Existing files are not changed.

use std::path::{Path, PathBuf};

use accord_contract::codes::{Code, Failure};
use accord_contract::text::pretty;
use accord_runs_core::config::Config;
use accord_runs_core::patterns::slug;
use accord_runs_core::state::State;

use crate::Environment;
use crate::operation::own_path;
use crate::repository::{LockedRepository, Repository};
use crate::scaffold;
pub use crate::scaffold::{NewAgent, NewRole};

/// Options of a new project.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InitOptions {
    /// Its id; derived from the name if absent.
    pub project_id: Option<String>,
    /// Its name; that of the folder if absent.
    pub name: Option<String>,
    /// Its goal.
    pub goal: Option<String>,
    /// The agent that does the turns of some roles; a person does all of them if absent.
    pub agent: Option<NewAgent>,
}

/// A repository that became governed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Initialized {
    /// Its folder.
    pub root: PathBuf,
    /// Files that were written.
    pub written: Vec<String>,
    /// Files that existed and were not changed.
    pub kept: Vec<String>,
}

/// The largest ignore file that is extended.
const MAX_IGNORE: u64 = 1024 * 1024;

/// Makes a folder a governed repository.
///
/// # Errors
/// `already_governed` if it is one; nothing is written then.
pub fn init(
    folder: &Path,
    options: &InitOptions,
    environment: &Environment,
) -> Result<Initialized, Failure> {
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
    let document = scaffold::config(&project(options, repository.root()), options.agent.as_ref());
    // Refuse now what the validation of the configuration would refuse later.
    let config = Config::read(document.clone().into())?;
    let locked = repository.lock(environment.lock_timeout())?;
    let mut files = Files::new(&locked);
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
    Ok(done)
}

fn project(options: &InitOptions, root: &Path) -> scaffold::Project {
    let folder = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = options.name.clone().or(folder);
    let name = name.unwrap_or_else(|| "project".to_owned());
    let made = slug(&name);
    let made = if made.is_empty() { "project".to_owned() } else { made };
    scaffold::Project {
        id: options.project_id.clone().unwrap_or(made),
        name,
        goal: options.goal.clone(),
    }
}

struct Files<'a> {
    locked: &'a LockedRepository,
    done: Initialized,
}

impl<'a> Files<'a> {
    fn new(locked: &'a LockedRepository) -> Self {
        Self {
            locked,
            done: Initialized { root: PathBuf::new(), written: Vec::new(), kept: Vec::new() },
        }
    }

    fn create(&mut self, path: &str, bytes: &[u8]) -> Result<(), Failure> {
        let list = if self.locked.create(&own_path(path)?, bytes)? {
            &mut self.done.written
        } else {
            &mut self.done.kept
        };
        list.push(path.to_owned());
        Ok(())
    }

    /// Adds the lines that an ignore file lacks.
    fn ignore(&mut self, lines: &[&str]) -> Result<(), Failure> {
        let path = own_path(".gitignore")?;
        let bytes = self.locked.read(&path, MAX_IGNORE)?.unwrap_or_default();
        let known = String::from_utf8_lossy(&bytes).into_owned();
        let missing: Vec<&str> = lines
            .iter()
            .copied()
            .filter(|line| !known.lines().any(|known| known.trim() == *line))
            .collect();
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
