//! `accord init`: coding agents are connected to the memory.
//!
//! What the files become is decided by `accord-wiring`; [`place`] reads and writes them.

mod place;
mod show;
mod try_it;

use std::path::{Path, PathBuf};

use accord_contract::Code;
use accord_wiring::{
    Choices, Door, Ledger, Plan, Scope, Snapshot, TOOLS, Tool, present, remove, trust, wire,
};

use self::place::Place;
use crate::host::{
    Connection, IfMissing, ProjectArg, Target, TargetArgs, check_person, holds_data, hub_of,
    setting,
};
use crate::terminal::{ask, can_ask, is_yes};
use crate::{CliError, Exit, Result, print_note};

/// How often a plan is made again because a file changed while a person read it.
const ATTEMPTS: usize = 3;

/// Connect coding agents to the memory: MCP server, briefing at the start, instructions
///
/// Edits the settings of an agent in this repository. Comments, order and layout of the files stay,
/// and --remove restores them. Without an agent, those that are installed are connected.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct InitArgs {
    /// The agents
    #[arg(value_name = "AGENT", value_enum)]
    tools: Vec<ToolName>,

    /// Print what would change, as a diff; exit code 1 if anything would
    #[arg(long, conflicts_with_all = ["check", "list", "yes"])]
    dry_run: bool,

    /// Check the files, what a person still has to approve, and that the server answers
    #[arg(long, conflicts_with_all = ["remove", "list", "force", "yes"])]
    check: bool,

    /// Remove what was added
    #[arg(long, conflicts_with = "list")]
    remove: bool,

    /// List the agents, and which of them are installed and connected
    #[arg(long, conflicts_with_all = ["tools", "force", "yes"])]
    list: bool,

    /// Edit the settings of the user, for all repositories
    #[arg(long)]
    user: bool,

    /// Replace or remove entries that somebody changed
    #[arg(long)]
    force: bool,

    /// Do not ask; needed where there is no terminal
    #[arg(long)]
    yes: bool,

    /// The name of the MCP server [default: accord]
    #[arg(long, value_name = "NAME", value_parser = server_name)]
    name: Option<String>,

    #[command(flatten)]
    project: ProjectArg,

    /// The URL of a server [default: ACCORD_URL, or `url` in accord.toml; else the data folder]
    #[arg(long)]
    url: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
enum ToolName {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl From<ToolName> for Tool {
    fn from(name: ToolName) -> Self {
        match name {
            ToolName::Claude => Self::Claude,
            ToolName::Codex => Self::Codex,
            ToolName::Gemini => Self::Gemini,
            ToolName::Opencode => Self::Opencode,
        }
    }
}

const AFTER: &str = "\
Files of a repository:
  claude    .mcp.json, .claude/settings.json, AGENTS.md or CLAUDE.md
  codex     .codex/config.toml, .codex/hooks.json, AGENTS.md
  gemini    .gemini/settings.json, GEMINI.md
  opencode  opencode.json, .opencode/plugins/accord.js, AGENTS.md
In a folder that is joined to a hub, the agent uses the hub's memory.
With a server, the settings name the variable ACCORD_KEY and never have a key.";

/// A name that needs no quotes in any of the files.
fn server_name(text: &str) -> Result<String, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    match !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) {
        true => Ok(text.to_owned()),
        false => Err("a name has letters, digits, - and _, and at most 64 of them".to_owned()),
    }
}

/// What one agent is connected to.
struct Work {
    choices: Choices,
    place: Place,
    root: String,
}

impl InitArgs {
    pub(crate) fn run(self) -> Result<Exit> {
        let scope = if self.user { Scope::User } else { Scope::Project };
        if self.list {
            return show::list(&Place::find(scope)?);
        }
        if !self.check && !self.dry_run {
            check_person()?;
        }
        let mut tools: Vec<Tool> = self.tools.iter().map(|name| Tool::from(*name)).collect();
        if tools.is_empty() {
            tools = self.tools_found(scope)?;
        }
        let mut exit = Exit::Yes;
        for tool in tools {
            let work = self.work(tool, scope)?;
            let done = match self.check {
                true => self.check(&work)?,
                false => self.change(&work)?,
            };
            if done != Exit::Yes {
                exit = done;
            }
        }
        Ok(exit)
    }

    /// The agents that are meant if none is named: those with entries, or those that are installed.
    fn tools_found(&self, scope: Scope) -> Result<Vec<Tool>> {
        let place = Place::find(scope)?;
        let ledger = place.ledger()?;
        let wired = TOOLS.into_iter().filter(|tool| ledger.name(*tool).is_some());
        if self.remove || self.check {
            return Ok(wired.collect());
        }
        let (found, missing): (Vec<Tool>, Vec<Tool>) =
            TOOLS.into_iter().partition(|tool| program(tool.name()).is_some());
        for tool in missing {
            let (name, package) = (tool.name(), tool.package());
            print_note(format!("{name} is not installed (npm package {package}): left out"));
        }
        Ok(found)
    }

    fn work(&self, tool: Tool, scope: Scope) -> Result<Work> {
        let place = Place::find(scope)?;
        let ledger = place.ledger()?;
        let name = self.name.clone().or_else(|| ledger.name(tool).map(str::to_owned));
        let name = name.unwrap_or_else(|| "accord".to_owned());
        let root = place.root_text();
        let (door, project) = match self.remove {
            true => (Door::Command, None),
            false => self.door(tool, &name, &place, &ledger)?,
        };
        let command = match (program("accord"), scope) {
            (None, Scope::User) => own_program(),
            _ => "accord".to_owned(),
        };
        let force = self.force;
        let choices = Choices { tool, scope, name, project, command, door, force };
        Ok(Work { choices, place, root })
    }

    /// How the agent reaches the memory, and the project. What the settings have holds, unless an
    /// option or the environment says something else.
    fn door(
        &self,
        tool: Tool,
        name: &str,
        place: &Place,
        ledger: &Ledger,
    ) -> Result<(Door, Option<String>)> {
        let snapshot = place.snapshot(ledger)?;
        let present = present(tool, place.scope, name, &place.homes, &snapshot);
        let present = present.unwrap_or_default();
        let target = TargetArgs { url: self.url.clone(), ..TargetArgs::default() };
        // The settings of the user are for every repository, also those without a memory.
        let found = match place.scope {
            Scope::User => match self.url.clone().or_else(|| setting("ACCORD_URL")) {
                Some(url) => Target::Server { url, key: None },
                None => Target::Folder(PathBuf::new()),
            },
            Scope::Project => target.target()?,
        };
        let hub = match (&found, place.scope) {
            (Target::Folder(_), Scope::Project) => hub_of(&place.root)?,
            _ => None,
        };
        let door = match (&found, &hub) {
            (Target::Server { url, .. }, _) => Door::Server(url.clone()),
            (_, Some(hub)) => Door::Server(hub.url.clone()),
            (Target::Folder(_) | Target::Attempt(_), None) => match present.url {
                Some(url) if self.url.is_none() => Door::Server(url),
                _ => Door::Command,
            },
        };
        if place.scope == Scope::User {
            return Ok((door, self.project.project.clone()));
        }
        let of_hub = hub.map(|hub| hub.project.as_str().to_owned());
        let project = match self.project.get(&target)?.or(of_hub).or(present.project) {
            Some(project) => Some(project),
            None => match (&door, &found) {
                (Door::Command, Target::Folder(folder)) => Some(own_project(folder, &place.root)?),
                _ => None,
            },
        };
        Ok((door, project))
    }

    fn change(&self, work: &Work) -> Result<Exit> {
        for _ in 0..ATTEMPTS {
            let ledger = work.place.ledger()?;
            let snapshot = work.place.snapshot(&ledger)?;
            let plan = self.plan(work, &snapshot, &ledger)?;
            if self.dry_run {
                show::notes(&plan);
                return show::diff(&plan);
            }
            if !plan.is_done() {
                self.confirm(work, &plan)?;
            }
            match work.place.write(&plan) {
                Err(moved) if moved.code() == Some(Code::WiringMoved) => {
                    print_note(format!("{moved}; the changes are planned again"));
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    let snapshot = work.place.snapshot(&plan.ledger)?;
                    let homes = &work.place.homes;
                    let open = match self.remove {
                        true => Vec::new(),
                        false => trust(work.choices.tool, &work.root, homes, &snapshot),
                    };
                    return show::done(&work.choices, &plan, self.remove, &open);
                }
            }
        }
        Err(CliError::new(Code::WiringMoved, "the files change all the time"))
    }

    fn plan(&self, work: &Work, snapshot: &Snapshot, ledger: &Ledger) -> Result<Plan> {
        let Work { choices, place, root } = work;
        Ok(match self.remove {
            true => remove(choices, &place.homes, snapshot, ledger)?,
            false => wire(choices, root, &place.homes, snapshot, ledger)?,
        })
    }

    fn confirm(&self, work: &Work, plan: &Plan) -> Result<()> {
        if self.yes {
            return Ok(());
        }
        let tool = work.choices.tool.name();
        let again = if self.remove { " --remove" } else { "" };
        if !can_ask() {
            let message = format!("no terminal to ask on: change the settings of {tool}?");
            return Err(CliError::new(Code::WiringUnconfirmed, message)
                .help(format!("look at `accord init {tool}{again} --dry-run`, then use --yes")));
        }
        print_note(plan.diff().trim_end());
        let typed = ask("write these changes? [y/N] ")?.unwrap_or_default();
        match is_yes(&typed) {
            true => Ok(()),
            false => Err(CliError::new(Code::WiringUnconfirmed, "no; nothing was written")),
        }
    }

    fn check(&self, work: &Work) -> Result<Exit> {
        let ledger = work.place.ledger()?;
        let snapshot = work.place.snapshot(&ledger)?;
        let plan = self.plan(work, &snapshot, &ledger)?;
        let open = trust(work.choices.tool, &work.root, &work.place.homes, &snapshot);
        let answers = try_it::answers(&work.choices, &work.place.root);
        show::checked(&work.choices, &plan, &open, &answers)
    }
}

/// The project of a data folder: the only one; for a new folder, one with the name of the root.
fn own_project(folder: &Path, root: &Path) -> Result<String> {
    if holds_data(folder) {
        let host = Connection::in_folder(folder, IfMissing::Fail)?;
        match host.only_project() {
            Ok(project) => return Ok(project),
            Err(error) if error.details().contains_key("projects") => return Err(error),
            // There is none yet.
            Err(_) => {}
        }
    }
    let name = root.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let name = name.unwrap_or_default();
    let plain = |letter: char| match letter.is_ascii_alphanumeric() || "-_.".contains(letter) {
        true => letter,
        false => '-',
    };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_matches(['-', '.']);
    Ok(if name.is_empty() { "project" } else { name }.to_owned())
}

/// A program in `PATH`.
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The path of this program, if it can stand in the command of a hook without quotes.
fn own_program() -> String {
    let is_plain = |path: &String| {
        path.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter))
    };
    let own = std::env::current_exe().ok();
    let own = own.map(|own| own.to_string_lossy().into_owned()).filter(is_plain);
    own.unwrap_or_else(|| "accord".to_owned())
}
