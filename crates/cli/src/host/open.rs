//! Connecting to a host, or opening a data folder in this process.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use accord_api::body::AnswerBody;
use accord_api::parameter::ParamSet;
use accord_api::{Answered, Call, NoBody, NoParams, Operation};
use accord_base::{IdError, ProjectId};
use accord_contract::{Code, Failure};
use accord_host::Api;
use accord_host::client::{Client, ClientOptions};
use accord_host::http::{Host, local_api};
use accord_host::serve::SOCKET;
use accord_host::tasks::{PROJECTS, TaskTrees};
use accord_host::upkeep::DATA_FOLDER;
use accord_memory_core::operations::ReadProject;
use accord_tasks::Environment;
use tokio::runtime::{Builder, Runtime};

use super::answer::{self, Answer, Streamed};
use super::folder::{DataFolder, full_path, settings_of};
use super::hub::hub_here;
use super::memory::in_project;
use super::new_folder::{NewFolder, NewTasks};
use super::request::HostRequest;
use super::shared_folder::{SharedFolder, TaskPlace};
use super::target::{Target, TargetArgs};
use crate::render::clean;
use crate::{CliError, Result, print_note};

/// The file that makes a folder a data folder.
const DATABASE: &str = "accord.db";

/// How long to wait for a folder that another command has locked. Eight commands at once on a busy
/// machine can need more than 5 seconds.
const LOCK_WAIT: Duration = Duration::from_secs(30);

/// After this time, a command that waits for the folder says so.
const SILENT_WAIT: Duration = Duration::from_secs(2);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(25);

/// What happens if there is no data folder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum IfMissing {
    Create,
    /// The first write that is not refused creates it, and says so.
    CreateByWrite,
    Fail,
}

pub(crate) struct Connection {
    pub(crate) api: Arc<dyn Api>,
    /// The runtime for requests.
    pub(crate) runtime: Runtime,
    /// The URL of the server, or the path of the data folder.
    pub(crate) place: String,
    /// Whether this connection created the data folder.
    pub(crate) is_new: bool,
    /// The task trees, if this process opened them without the store.
    pub(super) trees: Option<TaskTrees>,
    /// The only project, once it was asked for.
    pub(super) only: OnceLock<String>,
    /// Whether another process serves the data folder, so that this one keeps no lock.
    pub(crate) is_served: bool,
    /// Whether requests have a key, or another credential that names their actor.
    pub(crate) has_key: bool,
    /// Whether a key is sent unencrypted over a network.
    is_exposed: bool,
}

impl Connection {
    pub(super) fn open(target: &Target, if_missing: IfMissing) -> Result<Self> {
        match target {
            Target::Server { url, key } => Self::to_server(url, key.clone()),
            Target::Folder(folder) => Self::in_folder(folder, if_missing),
            Target::Attempt(socket) => Self::to_attempt(socket),
        }
    }

    /// Connects to the socket of a host that serves the folder; otherwise opens the folder in this
    /// process.
    pub(crate) fn in_folder(folder: &Path, if_missing: IfMissing) -> Result<Self> {
        let runtime = runtime(Builder::new_multi_thread().worker_threads(2))?;
        let (has_store, is_new) = (holds_store(folder), !holds_data(folder));
        let (api, is_served): (Arc<dyn Api>, bool) = match if_missing {
            IfMissing::Fail if is_new => return Err(no_store(folder)),
            IfMissing::Fail | IfMissing::CreateByWrite if !has_store => {
                // A host starts its tasks on the runtime of the current thread.
                let _inside = runtime.enter();
                (Arc::new(NewFolder::new(folder.to_owned())?), false)
            }
            _ => runtime.block_on(open_or_connect(folder))?,
        };
        // Without a store, the projects of the folder are those that have tasks.
        let trees = (!has_store).then(|| TaskTrees::new(folder, Environment::system()));
        Ok(Self { is_served, trees, ..Self::new(api, runtime, full_path(folder), is_new) })
    }

    fn new(api: Arc<dyn Api>, runtime: Runtime, place: String, is_new: bool) -> Self {
        Self {
            api,
            runtime,
            place,
            is_new,
            trees: None,
            only: OnceLock::new(),
            is_served: false,
            has_key: false,
            is_exposed: false,
        }
    }

    /// Connects to a host for a long wait. A data folder that nobody serves is opened for each look
    /// and closed again, so that other commands can use it meanwhile.
    pub(crate) fn for_waiting(target: &TargetArgs) -> Result<Self> {
        let folder = match target.target()? {
            Target::Folder(folder) => folder,
            other => return Self::open(&other, IfMissing::Fail),
        };
        let runtime = runtime(Builder::new_multi_thread().worker_threads(2))?;
        let (place, is_new) = (full_path(&folder), !holds_data(&folder));
        let tasks = TaskPlace::Folder(folder);
        let api = SharedFolder::new(target.clone(), IfMissing::CreateByWrite, tasks)?;
        Ok(Self::new(Arc::new(api), runtime, place, is_new))
    }

    /// Connects to the socket of the host that serves a folder; refused if none does.
    pub(crate) fn to_running_host(folder: &Path) -> Result<Self> {
        let runtime = runtime(Builder::new_current_thread())?;
        let Some(api) = runtime.block_on(running_host(folder))? else {
            let message = format!("no host serves {}", full_path(folder));
            let data = shell_words::quote(&folder.to_string_lossy()).into_owned();
            return Err(CliError::new(Code::HostUnreachable, message).help(format!(
                "start one with `accord serve --data {data}`, and run this command beside it"
            )));
        };
        Ok(Self::new(api, runtime, full_path(folder), false))
    }

    /// Connects to the socket of the attempt that this command is part of.
    pub(crate) fn to_attempt(socket: &Path) -> Result<Self> {
        let runtime = runtime(Builder::new_current_thread())?;
        let client = Client::socket(socket)?;
        let place = "the socket of this attempt".to_owned();
        Ok(Self { has_key: true, ..Self::new(Arc::new(client), runtime, place, false) })
    }

    pub(crate) fn to_server(url: &str, key: Option<String>) -> Result<Self> {
        let connection = Self::to_hub(url, key)?;
        connection.note_unencrypted();
        Ok(connection)
    }

    /// Connects to a server, without a warning about a key that is sent unencrypted.
    pub(crate) fn to_hub(url: &str, key: Option<String>) -> Result<Self> {
        let has_key = key.is_some();
        let client = Client::url(url, &ClientOptions::default().with_key(key))?;
        let is_exposed = has_key && client.is_unencrypted();
        let runtime = runtime(Builder::new_current_thread())?;
        let connection = Self::new(Arc::new(client), runtime, url.to_owned(), false);
        Ok(Self { has_key, is_exposed, ..connection })
    }

    /// Warns about a key that is sent unencrypted.
    pub(crate) fn note_unencrypted(&self) {
        if self.is_exposed {
            print_note(
                "warning: the key is sent over the network unencrypted; use https:// if the host \
                 supports it",
            );
        }
    }

    /// Connects to the tasks of a data folder: to the socket of a host that serves it; otherwise a
    /// host in this process opens the task trees alone, never the store. `create`: a missing folder
    /// is created by the first change that is not refused.
    pub(crate) fn to_tasks(folder: &Path, create: bool) -> Result<Self> {
        let is_new = !folder.exists();
        if is_new && !create {
            return Err(no_store(folder));
        }
        let runtime = runtime(Builder::new_multi_thread().worker_threads(2))?;
        let (api, trees) = runtime.block_on(async {
            if let Some(client) = running_host(folder).await? {
                return Ok::<_, Failure>((client, None));
            }
            let host = Host::tasks_only(folder, settings_of(folder)?)?;
            let mut api = local_api(&host);
            if is_new {
                api = Arc::new(NewTasks::new(folder, api));
            }
            Ok((api, Some(host.tasks().clone())))
        })?;
        let is_served = trees.is_none();
        Ok(Self { trees, is_served, ..Self::new(api, runtime, full_path(folder), is_new) })
    }

    /// Connects to the decisions of a host. A data folder without a store has those about tasks.
    pub(crate) fn to_decisions(target: &Target) -> Result<Self> {
        let Target::Folder(folder) = target else { return Self::open(target, IfMissing::Fail) };
        if holds_store(folder) || !folder.exists() {
            return Self::in_folder(folder, IfMissing::Fail);
        }
        let runtime = runtime(Builder::new_multi_thread().worker_threads(2))?;
        let host = {
            // A host starts its tasks on the runtime of the current thread.
            let _inside = runtime.enter();
            Host::tasks_only(folder, settings_of(folder)?)?
        };
        host.take_over_tasks();
        let trees = Some(host.tasks().clone());
        let api = local_api(&host);
        Ok(Self { trees, ..Self::new(api, runtime, full_path(folder), false) })
    }

    /// Opens a tree of tasks in a repository, in this process.
    pub(crate) fn to_tree(root: &Path, project: &str) -> Result<Self> {
        let runtime = runtime(Builder::new_multi_thread().worker_threads(2))?;
        let project: ProjectId = project.parse().map_err(|error: IdError| {
            CliError::usage(format!("the project {project:?}: {error}"))
        })?;
        let api = runtime.block_on(async {
            let host = Host::tasks_only(root, settings_of(root)?)?;
            host.tasks().link(&project, Some(root.to_owned()));
            Ok::<_, Failure>(local_api(&host))
        })?;
        Ok(Self::new(api, runtime, full_path(root), false))
    }

    pub(crate) fn send(&self, request: HostRequest) -> Result<Answer> {
        let project = request.project();
        let answer = self.runtime.block_on(request.send(self.api.as_ref()));
        let answer = answer.map_err(|error| self.naming_the_near(error, project))?;
        for warning in &answer.warnings {
            print_note(clean(&format!("warning: {}", warning.message)));
        }
        Ok(answer)
    }

    pub(crate) fn call<O>(&self, call: &Call<O>) -> Result<Answered<O::Answer>>
    where
        O: Operation<Answer: AnswerBody>,
    {
        self.send(call.encode().into())?.read()
    }

    /// Calls an operation, gives up after a time, and reads at most a number of bytes. A refusal is
    /// a failure.
    pub(crate) fn call_within<O>(
        &self,
        call: &Call<O>,
        (limit, most): (Duration, usize),
    ) -> Result<Answered<O::Answer>, Failure>
    where
        O: Operation<Answer: AnswerBody>,
    {
        let request = HostRequest::from(call.encode()).reads_at_most(most);
        let answer = self.runtime.block_on(async {
            let sent = request.send(self.api.as_ref());
            tokio::time::timeout(limit, sent).await.unwrap_or_else(|_| {
                let message = format!("{} did not answer in time", self.place);
                Err(CliError::new(Code::HostTimeout, message))
            })
        });
        answer.and_then(Answer::read).map_err(CliError::into_failure)
    }

    /// Sends a request, and gives up after a time. A refusal is a failure with its details.
    pub(crate) fn send_within(
        &self,
        request: HostRequest,
        limit: Duration,
    ) -> Result<Answer, Failure> {
        let answer = self.runtime.block_on(async {
            let sent = request.send(self.api.as_ref());
            tokio::time::timeout(limit, sent).await.unwrap_or_else(|_| {
                let message = format!("{} did not answer in time", self.place);
                Err(CliError::new(Code::HostTimeout, message))
            })
        });
        answer.map_err(Failure::from)
    }

    /// Calls an operation for which a host reads a whole store.
    pub(crate) fn call_long<O>(&self, call: &Call<O>) -> Result<Answered<O::Answer>>
    where
        O: Operation<Answer: AnswerBody>,
    {
        self.send(HostRequest::from(call.encode()).takes_long())?.read()
    }

    pub(crate) fn ask<O>(&self, path: O::Path, query: O::Query) -> Result<Answered<O::Answer>>
    where
        O: Operation<Body = NoBody, Answer: AnswerBody>,
    {
        self.call(&Call::<O>::new(path, query, NoBody))
    }

    /// Writes to a project, and says so if that creates the project. Returns whether the host made
    /// something new, too.
    pub(crate) fn write_to<O>(
        &self,
        call: &Call<O>,
        headers: &impl ParamSet,
    ) -> Result<(Answered<O::Answer>, bool)>
    where
        O: Operation<Answer: AnswerBody>,
    {
        let answer = self.send(call.encode().with_headers(headers).into())?;
        self.note_if_new(&answer);
        let is_new = answer.status == 201;
        Ok((answer.read()?, is_new))
    }

    pub(crate) fn lacks(&self, project: &str) -> Result<bool> {
        match self.ask::<ReadProject>(in_project(project)?, NoParams) {
            Ok(_) => Ok(false),
            Err(error) if error.code() == Some(Code::AgenticProjectNotFound) => Ok(true),
            Err(error) => Err(error),
        }
    }

    pub(crate) async fn stream(&self, request: HostRequest) -> Result<Streamed> {
        answer::streamed(request.call(self.api.as_ref()).await?).await
    }
}

pub(crate) fn holds_store(folder: &Path) -> bool {
    folder.join(DATABASE).exists()
}

/// Whether a folder is a data folder: it has a store, or only tasks.
pub(crate) fn holds_data(folder: &Path) -> bool {
    holds_store(folder) || folder.join(PROJECTS).is_dir()
}

/// Connects to the socket of a host that serves the folder; otherwise opens the folder in this
/// process. Returns whether there is such a host, too.
pub(super) async fn open_or_connect(folder: &Path) -> Result<(Arc<dyn Api>, bool), Failure> {
    let began = Instant::now();
    let mut is_silent = true;
    loop {
        // Tried again in each round: a host that is starting locks the folder before it has its
        // socket.
        if let Some(client) = running_host(folder).await? {
            return Ok((client, true));
        }
        match open_here(folder) {
            // Another command uses the folder for a moment, or a host is starting.
            Err(taken) if taken.code == Code::StoreLocked && began.elapsed() < LOCK_WAIT => {
                if is_silent && began.elapsed() >= SILENT_WAIT {
                    // The message names the folder.
                    print_note(clean(&format!("waiting: {}", taken.message)));
                    is_silent = false;
                }
                tokio::time::sleep(PAUSE).await;
            }
            opened => return opened.map(|api| (api, false)),
        }
    }
}

/// The host that serves a folder, if there is one.
pub(super) async fn running_host(folder: &Path) -> Result<Option<Arc<dyn Api>>, Failure> {
    let socket = folder.join(SOCKET);
    if !socket.exists() {
        return Ok(None);
    }
    let client = Client::socket(&socket)?;
    // A killed host leaves its socket behind; then the connection is refused.
    match client.connect().await {
        Ok(()) => Ok(Some(Arc::new(client))),
        Err(refused) if refused.code == Code::NotForWorkers => Err(refused),
        Err(_) => Ok(None),
    }
}

fn open_here(folder: &Path) -> Result<Arc<dyn Api>, Failure> {
    Ok(local_api(&Host::open(folder, settings_of(folder)?)?))
}

/// A runtime with threads of its own, for what is served beside the work of a command.
pub(crate) fn serving_runtime() -> Result<Runtime> {
    runtime(Builder::new_multi_thread().worker_threads(2))
}

fn runtime(mut builder: impl std::borrow::BorrowMut<Builder>) -> Result<Runtime> {
    builder.borrow_mut().enable_all().build().map_err(|error| {
        CliError::new(Code::HostUnreachable, format!("cannot start the async runtime: {error}"))
    })
}

fn no_store(folder: &Path) -> CliError {
    let shown = full_path(folder);
    let is_searched = DataFolder::untrusted(None)
        .is_ok_and(|searched| !searched.is_named && searched.path == folder);
    let message = match folder.exists() {
        true => format!("the data folder {shown} has no store yet, and no tasks"),
        false if is_searched => {
            let here = std::env::current_dir().unwrap_or_default();
            let main = folder.parent().and_then(|above| above.canonicalize().ok());
            let main = main.filter(|main| !here.starts_with(main));
            let main = main.map(|main| format!(", its main work tree {}", main.display()));
            let (here, main) = (here.display(), main.unwrap_or_default());
            format!("no data folder: {here}{main} and the folders above it have no {DATA_FOLDER}")
        }
        false => format!("no data folder at {shown}"),
    };
    let error = CliError::new(Code::StoreMissing, clean(&message));
    match hub_here() {
        Some(hub) => error.help(clean(&format!(
            "this folder is joined to {}, which has its memory: set ACCORD_URL={} and ACCORD_KEY, \
             and use the project {}",
            hub.url, hub.url, hub.project
        ))),
        None => error.help(
            "use --data or ACCORD_DATA for a data folder, or --url or ACCORD_URL for a server; \
             `accord serve`, `accord task init` and the first deposit create a folder",
        ),
    }
}
