//! Where the tasks are: which host is asked, and for which project.
//!
//! A tree can be in a data folder or in a repository (a folder with `project.yaml` and `tasks/`).
//! Without a running host, a host in this process opens the tree alone, under the tree's own lock;
//! `accord.db` is not touched.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use accord_api::body::{AnswerBody, OneOf};
use accord_api::{Answered, Call, Envelope, Json, NoBody, Operation};
use accord_base::{Door, ProjectId};
use accord_contract::Code;
use accord_host::Api;
use accord_host::settings::Settings;
use accord_host::upkeep::Lookup;
use accord_tasks::Tree;
use accord_tasks_core::operations::{Acting as Who, Formatted, InProject, OfTask};

use crate::host::{
    Acting, Connection, DataFolder, HostArgs, IfMissing, ProjectArg, SharedFolder, Target,
    TaskPlace, attempt_socket, holds_store, print_document, project_id, setting, settings_of,
};
use crate::place::note_other_above;
use crate::render::Page;
use crate::{CliError, Exit, Result, print_note};

/// The variable that names a tree in a repository.
const ROOT: &str = "ACCORD_TASKS";

/// The project, and the host or folder that has its tasks.
#[derive(Debug, clap::Args)]
pub(super) struct PlaceArgs {
    #[command(flatten)]
    pub(super) project: ProjectArg,
    #[command(flatten)]
    pub(super) host: HostArgs,

    /// A tree of tasks in a repository [default: ACCORD_TASKS, or the nearest folder upwards with
    /// project.yaml and tasks/]
    #[arg(long, value_name = "DIR", help_heading = "Host",
          conflicts_with_all = ["url", "key", "data"])]
    pub(super) root: Option<PathBuf>,
}

/// A host, and a project of it.
pub(super) struct Place {
    pub(super) project: String,
    pub(super) host: Connection,
    /// Whether documents are printed as JSON.
    pub(super) json: bool,
    /// The URL of the server, if the host is one.
    pub(super) url: Option<String>,
    /// The options that name this place in another command.
    words: String,
    memory: MemoryPlace,
}

/// Where the memory is that belongs to the tasks.
enum MemoryPlace {
    /// The host of the tasks has it.
    Host,
    /// A data folder, which is opened for each question: the tasks do not need it.
    Folder(PathBuf),
    None,
}

impl MemoryPlace {
    fn of(folder: PathBuf) -> Self {
        if holds_store(&folder) { Self::Folder(folder) } else { Self::None }
    }
}

impl PlaceArgs {
    /// Connects, for a command that reads or changes tasks.
    pub(super) fn open(&self) -> Result<Place> {
        self.connect(false, self.found_root(true))
    }

    /// Connects, for a command that may make the tree.
    pub(super) fn open_or_create(&self) -> Result<Place> {
        self.connect(true, self.found_root(true))
    }

    /// Connects, for the command that makes a tree on purpose: one above is not meant.
    pub(super) fn open_new(&self) -> Result<Place> {
        self.connect(true, self.found_root(false))
    }

    fn connect(&self, is_new: bool, root: Option<PathBuf>) -> Result<Place> {
        let json = self.host.json;
        if let Some(root) = root {
            if self.root.is_none() && setting(ROOT).is_none() {
                note_other_above(&root, "the tasks in", |folder| {
                    is_tree(folder) || has_data(folder)
                });
            }
            let project = self.project_of(&root)?;
            let host = Connection::to_tree(&root, &project)?;
            let words = option("--root", self.root.as_deref().map(Path::to_string_lossy));
            let data = DataFolder::of(self.host.target.data.as_deref());
            let memory = data.map_or(MemoryPlace::None, |data| MemoryPlace::of(data.path));
            return Ok(Place { project, host, json, url: None, words, memory });
        }
        let target = &self.host.target;
        let words = option("--project", self.project.project.as_deref())
            + &option("--data", target.data.as_deref().map(Path::to_string_lossy))
            + &option("--url", target.url.as_deref());
        let (host, url, memory) = match target.target()? {
            Target::Folder(folder) => {
                if target.data.is_none() && setting("ACCORD_DATA").is_none() && !is_new {
                    note_other_above(&folder, "the data folder", |folder| {
                        is_tree(folder) || has_data(folder)
                    });
                }
                let host = Connection::to_tasks(&folder, is_new)?;
                let is_served = host.is_served;
                let memory = if is_served { MemoryPlace::Host } else { MemoryPlace::of(folder) };
                (host, None, memory)
            }
            Target::Server { url, key } => {
                (Connection::to_server(&url, key)?, Some(url), MemoryPlace::Host)
            }
            Target::Attempt(socket) => (Connection::to_attempt(&socket)?, None, MemoryPlace::Host),
        };
        let project = self.project.required(target, &host)?;
        Ok(Place { project, host, json, url, words, memory })
    }

    /// The data folder, and the settings that hold for workers.
    pub(super) fn settings(&self) -> Result<(PathBuf, Settings)> {
        let data = DataFolder::of(self.host.target.data.as_deref())?.path;
        let settings = settings_of(&data)?;
        Ok((data, settings))
    }

    /// What the worker of an attempt asks: the tasks of this place, and the memory beside them.
    pub(super) fn for_workers(&self) -> Result<Arc<dyn Api>> {
        let target = self.host.target.clone();
        let place = match self.found_root(true) {
            Some(root) => {
                let project = self.project_of(&root)?;
                TaskPlace::Tree(root, project)
            }
            None => match target.target()? {
                Target::Folder(folder) => TaskPlace::Folder(folder),
                _ => return Ok(target.connect(IfMissing::Fail)?.api),
            },
        };
        Ok(Arc::new(SharedFolder::new(target, IfMissing::CreateByWrite, place)?))
    }

    /// The tree in a repository: the named one, else the nearest one, unless the command or the
    /// environment names a host, or a data folder is nearer.
    fn found_root(&self, searches: bool) -> Option<PathBuf> {
        if attempt_socket().is_some() {
            if self.root.is_some() {
                print_note("--root is not used: a worker has a socket (ACCORD_SOCKET)");
            }
            return None;
        }
        if self.root.is_some() {
            return self.root.clone();
        }
        let target = &self.host.target;
        if target.url.is_some() || target.data.is_some() {
            return None;
        }
        if let Some(root) = setting(ROOT) {
            return Some(root.into());
        }
        if searches { self.nearest_root() } else { None }
    }

    /// The tree that a command in the current folder finds without an option.
    fn nearest_root(&self) -> Option<PathBuf> {
        if setting("ACCORD_URL").is_some() || setting("ACCORD_DATA").is_some() {
            return None;
        }
        let lookup = Lookup::from(&std::env::current_dir().ok()?);
        // One that is refused is the data folder's to refuse.
        let found = lookup.find().ok()?;
        let data = found.as_ref().and_then(|found| found.path.parent());
        let mut places = lookup.places.iter().map(|place| place.folder.as_path());
        let nearest = places.find(|folder| is_tree(folder) || data == Some(folder))?;
        is_tree(nearest).then(|| nearest.to_owned())
    }

    /// Whether a command in the current folder finds this tree without an option.
    pub(super) fn is_found(&self) -> bool {
        let named = self.root.as_ref().and_then(|root| root.canonicalize().ok());
        named.is_some() && setting(ROOT).is_none() && self.nearest_root() == named
    }

    /// The project of a tree in a repository: the one that its manifest names.
    fn project_of(&self, root: &Path) -> Result<String> {
        let recorded = is_tree(root).then(|| Tree::project_in(root)).transpose()?;
        let (named, folder) = (self.project.project.clone(), root.display());
        match (recorded, named) {
            (Some(recorded), Some(named)) if recorded != named => {
                let message = format!(
                    "the tasks in {folder} belong to the project {recorded}, not to {named}"
                );
                Err(CliError::usage(message).help("leave --project out"))
            }
            (Some(recorded), _) => Ok(recorded),
            (None, Some(named)) => Ok(named),
            (None, None) => self.project.get(&self.host.target)?.ok_or_else(|| {
                CliError::usage(format!("no project given for the tasks in {folder}"))
                    .help("`accord task init --root DIR --project ID` makes a tree in a repository")
            }),
        }
    }
}

impl Place {
    pub(super) fn tasks(&self) -> Result<InProject> {
        Ok(InProject { project: self.project_id()? })
    }

    pub(super) fn task(&self, id: &str) -> Result<OfTask> {
        Ok(OfTask { project: self.project_id()?, task: id.to_owned() })
    }

    pub(super) fn project_id(&self) -> Result<ProjectId> {
        project_id(&self.project)
    }

    pub(super) fn change<O>(
        &self,
        path: O::Path,
        body: O::Body,
        by: &Acting,
    ) -> Result<Answered<O::Answer>>
    where
        O: Operation<Query = Who, Answer: AnswerBody>,
    {
        let who = Who { actor: None, door: Some(Door::Cli) };
        let is_first = self.host.lacks_tasks(&self.project_id()?);
        let answered = self.host.call_by(by, &Call::<O>::new(path, who, body))?;
        if is_first {
            self.host.note_first_tasks(&self.project);
        }
        Ok(answered)
    }

    /// Asks the memory of the tasks. What is asked is left out where there is none.
    pub(super) fn ask_memory<O>(&self, path: O::Path, query: O::Query) -> Option<String>
    where
        O: Operation<Body = NoBody, Answer: AnswerBody>,
    {
        let answered = match &self.memory {
            MemoryPlace::None => return None,
            MemoryPlace::Host => self.host.ask::<O>(path, query),
            MemoryPlace::Folder(folder) => {
                Connection::in_folder(folder, IfMissing::Fail).ok()?.ask::<O>(path, query)
            }
        };
        Some(answered.ok()?.text)
    }

    pub(super) fn print<E: Envelope>(
        &self,
        answered: Answered<Json<E>>,
        render: impl FnOnce(&mut Page, &E::Result),
    ) -> Result<Exit> {
        let result = answered.answer.0.result();
        print_document(self.json, &answered.text, |page| render(page, &result))
    }

    /// The options that name this place in another command, each after a blank.
    pub(super) fn options(&self) -> &str {
        &self.words
    }

    /// A command of this place, for people.
    pub(super) fn command(&self, words: &str) -> String {
        format!("accord task {words}{}", self.words)
    }
}

/// The document of an answer that can also be Markdown.
pub(super) fn document<E: Envelope>(answered: Answered<Formatted<E>>) -> Result<Answered<Json<E>>> {
    match answered.answer {
        OneOf::One(answer) => Ok(Answered { text: answered.text, answer }),
        OneOf::Other(_) => {
            Err(CliError::new(Code::HostProtocol, "the answer is Markdown, and no document"))
        }
    }
}

fn has_data(folder: &Path) -> bool {
    folder.join(accord_host::upkeep::DATA_FOLDER).is_dir()
}

fn is_tree(folder: &Path) -> bool {
    folder.join("project.yaml").is_file() && (folder.join("tasks").is_dir() || is_emptied(folder))
}

/// Whether a `project.yaml` is that of tasks, of which git carried none: it keeps no empty folder.
fn is_emptied(folder: &Path) -> bool {
    let says = |manifest: &accord_tasks::manifest::Manifest| {
        manifest.apply.is_some() || manifest.review.is_some() || manifest.layout.is_some()
    };
    Tree::manifest_in(folder).is_ok_and(|manifest| manifest.as_ref().is_some_and(says))
}

/// An option with its value, after a blank; nothing without a value.
fn option(name: &str, value: Option<impl AsRef<str>>) -> String {
    let value = value.as_ref().map(|value| shell_words::quote(value.as_ref()));
    value.map(|value| format!(" {name} {value}")).unwrap_or_default()
}
