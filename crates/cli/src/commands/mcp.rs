//! `accord mcp`: an MCP server on standard input and output.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use accord_base::ActorKey;
use accord_contract::Code;
use accord_host::mcp::{self, CallContext, TOOLSETS, Toolbox};
use accord_host::settings::Settings;
use accord_host::{Api, log};
use tokio::runtime::Builder;

use crate::host::{
    ActorArg, Connection, IfMissing, ProjectArg, SharedFolder, Target, TargetArgs, TaskPlace,
    attempt_socket, full_path, own_actor, work,
};
use crate::render::clean;
use crate::{CliError, Exit, Result, print_note};

/// Serve the tools for agents over MCP, on standard input and output
///
/// An MCP client starts this command. It ends at the end of standard input. Messages for people go
/// to standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct McpArgs {
    /// These sets of tools or single tools: memory (default), relay, tasks, live, or for example
    /// memory_orient,memory_deposit
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tools: Vec<String>,

    #[command(flatten)]
    project: ProjectArg,
    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    target: TargetArgs,
}

/// How long the host may take to say whose the key is.
const LIMIT: Duration = Duration::from_secs(2);

const EXAMPLE: &str = r#"Example, in the settings of an MCP client:
  {"mcpServers": {"accord": {"command": "accord", "args": ["mcp", "--project", "shop"]}}}"#;

impl McpArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let toolbox = match self.tools.as_slice() {
            // The first set is the default.
            [] => Toolbox::join(&TOOLSETS[..1])?,
            names => Toolbox::join(TOOLSETS)?.only(names.iter().map(|name| name.trim()))?,
        };
        // The actor of an attempt is its agent, whatever the settings of an MCP client say.
        let actor = match attempt_socket() {
            Some(_) => ActorArg { actor: None }.named(),
            None => self.actor.named(),
        };
        let mut standing = CallContext {
            project: self.project.get(&self.target)?,
            actor: actor?.map(|actor| actor.key().clone()),
            work: work(),
            ..CallContext::default()
        };
        let mut quiet = Settings::default().log;
        quiet.level = "warn,rmcp=error".into();
        log::begin(&quiet)?;
        let has_memory = toolbox.names().any(|name| !is_of_tasks(name));
        let reached = reach(self.target, has_memory, standing.project.is_none())?;
        let Reached { api, only, has_key, actor } = reached;
        standing.project = standing.project.or(only);
        // A key that names its actor writes as no other, whatever the client is called.
        standing.actor = standing.actor.or(actor);
        standing.has_key = has_key;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(
            |error| CliError::new(Code::HttpFault, format!("cannot start threads: {error}")),
        )?;
        let served = runtime.block_on(mcp::serve_stdio(api, toolbox, standing));
        // A thread may still block on standard input.
        runtime.shutdown_background();
        served?;
        Ok(Exit::Yes)
    }
}

/// A host, its only project if that was asked for, and whether it knows this server by a key, with
/// the actor of that key.
struct Reached {
    api: Arc<dyn Api>,
    only: Option<String>,
    has_key: bool,
    actor: Option<ActorKey>,
}

impl Reached {
    fn shared(target: TargetArgs, folder: PathBuf, only: Option<String>) -> Result<Self> {
        let place = TaskPlace::Folder(folder);
        let api = Arc::new(SharedFolder::new(target, IfMissing::Create, place)?);
        Ok(Self { api, only, has_key: false, actor: None })
    }
}

/// Connects to the host. A server is reached over persistent connections, a data folder as
/// [`SharedFolder`] says.
///
/// `asks`: the only project of the host is the default one. Without it, calls name a project.
fn reach(target: TargetArgs, has_memory: bool, asks: bool) -> Result<Reached> {
    let only = |host: &Connection| asks.then(|| host.only_project().ok()).flatten();
    let folder = match target.target()? {
        Target::Folder(folder) => folder,
        other => {
            let place = match other {
                Target::Server { url, .. } => format!("server {}", clean(&url)),
                _ => "socket of this attempt".to_owned(),
            };
            print_note(format!("accord: using the {place}"));
            let host = target.connect(IfMissing::Create)?;
            let (api, has_key) = (Arc::clone(&host.api), host.has_key);
            let actor = if has_key { actor_of_key(&target) } else { None };
            return Ok(Reached { api, only: only(&host), has_key, actor });
        }
    };
    if !has_memory {
        // The store is not opened, also not to check it.
        print_note(format!("accord: using the data folder {}", clean(&full_path(&folder))));
        let only = only(&Connection::to_tasks(&folder, true)?);
        return Reached::shared(target, folder, only);
    }
    // Only a check, so that a wrong folder is reported at the start. The connection is closed at
    // once, because it locks the folder.
    let only = match target.connect(IfMissing::Create) {
        Ok(host) => {
            let new = if host.is_new { "new " } else { "" };
            print_note(format!("accord: using the {new}data folder {}", clean(&host.place)));
            only(&host)
        }
        // The lock may be released before the first call.
        Err(taken) if taken.code() == Some(Code::StoreLocked) => {
            print_note(format!("warning: {taken}"));
            None
        }
        Err(error) => return Err(error),
    };
    Reached::shared(target, folder, only)
}

/// The actor of the key, if the host says it soon. A host that is away does not keep the tools from
/// being served: each call is refused until it is back.
fn actor_of_key(target: &TargetArgs) -> Option<ActorKey> {
    let TargetArgs { url, key, data } = target;
    let target = TargetArgs { url: url.clone(), key: key.clone(), data: data.clone() };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let asked = target.connect(IfMissing::Fail).and_then(|host| own_actor(&host));
        sender.send(asked)
    });
    receiver.recv_timeout(LIMIT).ok()?.ok()?
}

fn is_of_tasks(name: &str) -> bool {
    let set = TOOLSETS.iter().find(|set| set.name == "tasks");
    set.is_some_and(|set| set.tools.iter().any(|tool| tool.name == name))
}
