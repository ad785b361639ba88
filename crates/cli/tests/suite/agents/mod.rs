//! The coding agents that `accord run init --agent` knows, as they are installed from npm: they do
//! the turns of a run and use Accord's memory, against a stand-in for the API of their model.
//!
//! The clients are looked for in the folder that `ACCORD_AGENT_CLIENTS` names (an npm prefix), else
//! in `PATH`. Without a client its test says so and is skipped; `docs/agents.md` says how to
//! install them.

mod anthropic;
mod chat;
mod day;
mod definitions;
mod google;
mod model_api;
mod openai;
mod script;
mod wired;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use accord_runs::agents::Preset;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::accord::{Ran, path_with_accord, run};
use crate::run_place::Place;
use crate::wait::{exit_of, output_of, wait_until};

use model_api::ModelApi;
use script::title;

#[test]
fn claude_carries_a_run_of_three_turns_and_uses_the_memory() {
    if let Some(desk) = Desk::with("claude") {
        desk.carries_a_run();
    }
}

#[test]
fn codex_carries_a_run_of_three_turns_and_uses_the_memory() {
    if let Some(desk) = Desk::with("codex") {
        desk.carries_a_run();
    }
}

#[test]
fn claude_carries_a_run_in_landlock() {
    if let Some(desk) = Desk::with("claude") {
        desk.sandboxed("landlock").carries_a_run();
    }
}

#[test]
fn codex_carries_a_run_in_landlock() {
    if let Some(desk) = Desk::with("codex") {
        desk.sandboxed("landlock").carries_a_run();
    }
}

#[test]
fn claude_works_on_tasks_that_depend_on_each_other() {
    if let Some(desk) = Desk::with("claude") {
        desk.works_on_tasks();
    }
}

#[test]
fn codex_works_on_tasks_that_depend_on_each_other() {
    if let Some(desk) = Desk::with("codex") {
        desk.works_on_tasks();
    }
}

#[test]
fn claude_works_on_tasks_in_landlock() {
    if let Some(desk) = Desk::with("claude") {
        desk.sandboxed("landlock").works_on_tasks();
    }
}

#[test]
fn codex_works_on_tasks_in_landlock() {
    if let Some(desk) = Desk::with("codex") {
        desk.sandboxed("landlock").works_on_tasks();
    }
}

#[test]
fn gemini_carries_a_run_and_works_on_tasks() {
    if let Some(desk) = Desk::with("gemini") {
        desk.carries_a_run();
        desk.works_on_tasks();
    }
}

#[test]
fn gemini_carries_a_run_and_works_on_tasks_in_landlock() {
    if let Some(desk) = Desk::with("gemini") {
        let desk = desk.sandboxed("landlock");
        desk.carries_a_run();
        desk.works_on_tasks();
    }
}

#[test]
fn opencode_carries_a_run_and_works_on_tasks() {
    if let Some(desk) = Desk::with("opencode") {
        desk.carries_a_run();
        desk.works_on_tasks();
    }
}

#[test]
fn opencode_carries_a_run_and_works_on_tasks_in_landlock() {
    if let Some(desk) = Desk::with("opencode") {
        let desk = desk.sandboxed("landlock");
        desk.carries_a_run();
        desk.works_on_tasks();
    }
}

/// The long form: `ACCORD_CLIENT_TASKS=30 cargo test -p accord-cli --test suite two_clients`.
#[test]
fn two_clients_carry_a_graph_of_tasks_although_they_are_killed() {
    let desk = Desk::with("claude").and_then(|desk| desk.and("codex"));
    if let Some(desk) = desk {
        let count = std::env::var("ACCORD_CLIENT_TASKS");
        let count: usize = count.map_or(6, |count| count.parse().expect("a number"));
        desk.carries_a_graph(count.div_ceil(3), if count > 6 { 3 } else { 1 });
    }
}

#[test]
fn the_commands_of_the_readme_reach_the_first_gate() {
    let block = governed_block();
    assert!(block.contains("--agent claude"), "{block}");
    let Some(desk) = Desk::with("claude") else {
        return;
    };
    let ran = desk.shell(&block);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains(" is with claude\n"), "{ran:?}");
    assert!(ran.stdout.contains("a gate needs approval (1 turn accepted"), "{ran:?}");
    assert!(ran.stdout.contains("next  accord run approve-transition"), "{ran:?}");
    // The output of the client is a stream of JSON, which is for its log.
    assert!(!ran.stderr.contains("{\""), "{ran:?}");
    desk.has_committed_the_work();
}

#[test]
fn a_name_is_a_preset_and_anything_else_a_command() {
    let place = Place::new();
    let init = |folder: &str, words: &str| {
        let repo = place.at(folder);
        place.run(&format!("init --repo {} {words}", repo.display())).yes();
        let text = std::fs::read(repo.join("agentxchain.json")).expect("the configuration");
        let config: Value = serde_json::from_slice(&text).expect("JSON");
        config
    };
    let config = init("a", "--agent codex");
    let command = config["runtimes"]["codex"]["command"].as_array().expect("a list");
    assert!(command.starts_with(&[json!("codex"), json!("exec")]), "{command:?}");
    assert_eq!(config["roles"]["pm"]["runtime"], "codex");
    assert_eq!(config["roles"]["qa"]["runtime"], "by-hand");

    let config = init("b", "--agent 'codex exec {prompt}' --agent-role qa --agent-role dev");
    let runtime = &config["runtimes"]["agent"];
    assert_eq!(runtime["command"], json!(["codex", "exec", "{prompt}"]));
    assert_eq!(runtime["prompt_transport"], "argv");
    let runtimes = ["pm", "dev", "qa"].map(|role| &config["roles"][role]["runtime"]);
    assert_eq!(runtimes, ["by-hand", "agent", "agent"]);

    // An agent that plans needs a goal.
    let says_so = |folder: &str, words: &str| {
        let said = place.run(&format!("init --repo {} {words}", place.at(folder).display())).yes();
        said.contains("the project has no goal")
    };
    assert!(says_so("c", "--agent codex"));
    assert!(!says_so("d", "--agent codex --goal 'Sell books'"));
    assert!(!says_so("e", "--agent codex --agent-role dev"));

    let said = place.run("init --agent codex --agent-role boss").stderr;
    assert!(said.contains("a new project has the roles pm, dev and qa"), "{said}");
    let said = place.run("init --agent-role dev").stderr;
    assert!(said.contains("--agent <AGENT>"), "{said}");
    assert!(!place.at("agentxchain.json").exists(), "a refusal writes nothing");
}

/// The commands of the README's section about governed runs.
fn governed_block() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let (_, section) = page.split_once("\n## Governed runs\n").expect("the section");
    let (_, block) = section.split_once("```console\n").expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    let commands = block.lines().filter_map(|line| line.strip_prefix("$ "));
    commands.map(|command| format!("{command}\n")).collect()
}

/// The home folder of a person with one agent, and a new repository.
struct Desk {
    preset: &'static Preset,
    home: TempDir,
    path: OsString,
    api: ModelApi,
    /// The sandbox of the agent.
    sandbox: &'static str,
}

impl Desk {
    /// A desk with this agent, if it is installed.
    fn with(name: &str) -> Option<Self> {
        let desk = Self::fresh(name)?;
        desk.connect(desk.preset);
        Some(desk)
    }

    /// A desk with this agent and a model, if it is installed, without a memory.
    fn fresh(name: &str) -> Option<Self> {
        let preset = Preset::named(name).expect("a name that is known");
        let path = path_with(preset)?;
        // Not in the temporary folder: where bubblewrap is installed, Codex hides that folder from
        // the commands that it starts, with its own program in it.
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let home_path = home.path().canonicalize().expect("a folder");
        std::fs::create_dir(home_path.join("shop")).expect("a folder");
        let api = ModelApi::start(home_path.join("shop"));
        let desk = Self { preset, home, path, api, sandbox: default_sandbox() };
        desk.git(&["init", "--quiet", "--initial-branch=main"]);
        desk.settle(preset);
        Some(desk)
    }

    fn sandboxed(mut self, sandbox: &'static str) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// The same desk with another agent, if that is installed.
    fn and(mut self, name: &str) -> Option<Self> {
        let preset = Preset::named(name).expect("a name that is known");
        let more = path_with(preset)?;
        let folders = std::env::split_paths(&self.path).chain(std::env::split_paths(&more));
        self.path = std::env::join_paths(folders).expect("folders without a colon");
        self.settle(preset);
        self.connect(preset);
        Some(self)
    }

    /// Writes the settings of a user who has a model, and trusts the repository.
    fn settle(&self, preset: &Preset) {
        let url = self.api.url();
        match preset.name {
            "claude" => {}
            "gemini" => {
                let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": false},
                    "general": {"disableAutoUpdate": true, "disableUpdateNag": true}});
                self.write(".gemini/settings.json", &settings.to_string());
                let trusted = json!({self.at("shop"): "TRUST_FOLDER"});
                self.write(".gemini/trustedFolders.json", &trusted.to_string());
            }
            "opencode" => {
                let settings = self.model_of_opencode();
                self.write(".config/opencode/opencode.json", &settings.to_string());
            }
            _ => {
                let settings = format!(
                    "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n\
                     [model_providers.scripted]\nname = \"Scripted\"\nbase_url = \"{url}/v1\"\n\
                     env_key = \"SCRIPTED_KEY\"\nwire_api = \"responses\"\n\n\
                     [projects.{}]\ntrust_level = \"trusted\"\n",
                    json!(self.at("shop"))
                );
                self.write(".codex/config.toml", &settings);
            }
        }
    }

    /// Connects a client to the memory outside of the repository, as its user would.
    fn connect(&self, preset: &Preset) {
        let arguments = ["mcp", "--data", &self.at("memory"), "--project", "shop"];
        let server = json!({"command": "accord", "args": arguments});
        match preset.name {
            "claude" => {
                let servers = json!({"mcpServers": {"accord": server}});
                self.write("shop/.mcp.json", &servers.to_string());
            }
            "gemini" => {
                let path = self.at(".gemini/settings.json");
                let text = std::fs::read(&path).expect("the settings");
                let mut settings: Value = serde_json::from_slice(&text).expect("JSON");
                settings["mcpServers"] = json!({"accord": server});
                std::fs::write(&path, settings.to_string()).expect("a file");
            }
            "opencode" => {
                let command: Vec<&str> = std::iter::once("accord").chain(arguments).collect();
                // The settings of the user are not in the sandbox of a worker.
                let mut settings = self.model_of_opencode();
                settings["mcp"] =
                    json!({"accord": {"type": "local", "command": command, "enabled": true}});
                self.write("shop/opencode.json", &settings.to_string());
            }
            _ => {
                let path = self.at(".codex/config.toml");
                let server = format!(
                    "{}\n[mcp_servers.accord]\ncommand = \"accord\"\nargs = {}\n",
                    std::fs::read_to_string(&path).expect("the settings"),
                    json!(arguments)
                );
                std::fs::write(&path, server).expect("a file");
            }
        }
        self.commit("Begin");
    }

    fn model_of_opencode(&self) -> Value {
        let options = json!({"baseURL": format!("{}/v1", self.api.url()), "apiKey": "scripted"});
        // Without `$schema`, the client adds it to the file.
        json!({"$schema": "https://opencode.ai/config.json", "model": "scripted/scripted",
            "autoupdate": false, "share": "disabled",
            "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible",
                "options": options, "models": {"scripted": {}}}}})
    }

    fn write(&self, path: &str, text: &str) {
        let path = PathBuf::from(self.at(path));
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    /// Three turns of the agent: it plans, builds and reviews, and a person approves.
    fn carries_a_run(&self) {
        let roles = "--agent-role pm --agent-role dev --agent-role qa";
        self.accord(&format!("run init --name Shop --agent {} {roles}", self.preset.name));
        self.commit("Govern the repository");
        self.accord("run doctor");
        self.accord("run start");
        let said = self.accord("run loop");
        assert!(said.contains("a gate needs approval (1 turn accepted"), "{said}");
        self.accord("run approve-transition --yes --actor human:lead");
        let said = self.accord("run loop");
        assert!(said.contains("a gate needs approval (2 turns accepted"), "{said}");
        self.accord("run approve-completion --yes --actor human:lead");
        let said = self.accord("run status");
        assert!(said.contains("completed"), "{said}");
        self.has_committed_the_work();
        let history = std::fs::read_to_string(self.at("shop/.agentxchain/history.jsonl"));
        let name = if self.sandbox == "auto" { "" } else { self.sandbox };
        let sandbox = format!("\"worker_sandbox\":\"{name}");
        assert_eq!(history.expect("the record").matches(&sandbox).count(), 3, "{sandbox}");

        // Each turn deposited a package, and the later ones saw those of the earlier ones.
        let memory = format!("context pull --data {} --project shop", self.at("memory"));
        let packages = self.accord(&memory);
        let asked = self.api.asked();
        for role in ["pm", "dev", "qa"] {
            assert!(packages.contains(&title(role)), "{role}: {packages}");
        }
        // Each of them tried to approve the end of the run.
        let refusals = asked.matches("not_for_workers").count();
        assert!(refusals >= 3, "{refusals} refusals");
        // A request has all that its turn has read and written. How many there are depends on how
        // long the commands take.
        let requests: Vec<&str> = asked.lines().collect();
        for roles in [&["pm", "dev"][..], &["pm", "dev", "qa"]] {
            let has_all = |request: &&str| roles.iter().all(|role| request.contains(&title(role)));
            assert!(requests.iter().any(has_all), "{roles:?} in no request");
        }
    }

    /// Two tasks, the second after the first; the agent reports in its file.
    fn works_on_tasks(&self) {
        let project = "--project shop --actor human:lead";
        let made = self.accord(&format!(
            "task create 'Write the parser' --ready --no-review --id-only {project}"
        ));
        let first = made.trim();
        self.accord(&format!(
            "task create 'Write the manual' --role dev --after {first} {project}"
        ));
        self.accord(&format!(
            "task create 'Write the examples' --role dev --after {first} --no-review {project}"
        ));
        let words =
            format!("task work --agent {} --role dev --drain --project shop", self.preset.name);
        let ran = self.shell(&format!("accord {words}"));
        assert_eq!(ran.code, 0, "{ran:?}");
        let said = format!("{} worked on 3 tasks\n", self.preset.name);
        assert!(ran.stderr.ends_with(&said), "{ran:?}");
        let list = self.accord("task list --all --project shop");
        for (status, count) in [("done", 2), ("review", 1)] {
            assert_eq!(list.matches(&format!("  {status}  ")).count(), count, "{list}");
        }
        let asked = self.api.asked();
        assert!(asked.contains("not_for_workers"), "it could decide for a person");
        // The second briefing has what the first task left.
        assert!(asked.contains("A client did it"), "the notes of the first task are missing");
    }

    /// Three layers of tasks, each task after two of the layer before. The workers of both clients
    /// are killed while a client works, and started again.
    fn carries_a_graph(&self, width: usize, kills: usize) {
        self.accord("task init --project shop --actor human:lead --heartbeat 3");
        let mut before: Vec<String> = Vec::new();
        for layer in 0..3 {
            let mut made = Vec::new();
            for at in 0..width {
                let after: String = [at, at + 1]
                    .iter()
                    .filter_map(|other| before.get(other % width))
                    .map(|id| format!("--after {id} "))
                    .collect();
                let ready = if layer == 0 { "--ready" } else { "" };
                let words = format!("'Task {layer}.{at}' --role dev --no-review {ready} {after}");
                let words = format!("task create {words} --project shop --actor human:lead");
                made.push(self.accord(&format!("{words} --id-only")).trim().to_owned());
            }
            before = made;
        }
        std::thread::scope(|scope| {
            for name in ["claude", "codex"] {
                scope.spawn(move || self.works_although_killed(name, kills));
            }
        });
        let list = self.accord("task list --all --limit 100 --project shop");
        assert_eq!(list.matches("  done  ").count(), 3 * width, "{list}");
        let said = self.accord("task lint --project shop");
        assert!(said.starts_with(&format!("clean: {} tasks, ", 3 * width)), "{said}");
        let events = self.accord("task watch --no-wait --project shop");
        assert_eq!(events.matches("review to done").count(), 3 * width, "{events}");
        let taken_back = events.matches("stale_heartbeat_reclaim").count();
        assert!(taken_back > 0, "no kill was in the middle of a task\n{events}");
    }

    /// Works until no task is left. The worker is killed so many times while it has a task.
    fn works_although_killed(&self, name: &str, kills: usize) {
        let words = ["task", "work", "--role", "dev", "--drain", "--project", "shop", "--agent"];
        let start = || {
            let mut command = self.prepared(Command::new(crate::accord::program()));
            command.args(words).arg(name).stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("accord starts")
        };
        let holds = || {
            let words = format!("task list --status in-progress --agent {name} --project shop");
            !self.accord(&words).is_empty()
        };
        let mut worker = start();
        for _ in 0..kills {
            wait_until(format_args!("a task of {name}, or the end of its work"), || {
                holds() || worker.try_wait().expect("a child").is_some()
            });
            worker.kill().expect("it can be killed");
            exit_of(&mut worker, name);
            worker = start();
        }
        let ran: Ran = output_of(worker, name).into();
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// Only the records of the run itself are left for the person to commit.
    #[track_caller]
    fn has_committed_the_work(&self) {
        let left = self.git(&["status", "--short"]);
        let own = |line: &str| line.ends_with(" TALK.md") || line.contains(" .agentxchain/");
        assert!(left.lines().all(own), "{left}");
    }

    #[track_caller]
    fn accord(&self, words: &str) -> String {
        let ran = self.shell(&format!("accord {words}"));
        assert_eq!(ran.code, 0, "accord {words}\n{}\n{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    #[track_caller]
    fn git(&self, words: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(words);
        self.typed(git).yes()
    }

    fn commit(&self, title: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", title]);
    }

    /// Types commands in the repository.
    fn shell(&self, script: &str) -> Ran {
        let mut shell = Command::new("sh");
        shell.args(["-euc", script]);
        self.typed(shell)
    }

    fn typed(&self, command: Command) -> Ran {
        run(self.prepared(command), "")
    }

    /// A command in the repository, with the environment of the person at the desk.
    fn prepared(&self, mut command: Command) -> Command {
        // Settings of the account that runs the tests must not reach the client.
        let inherited: Vec<OsString> = std::env::vars_os()
            .map(|(name, _)| name)
            .filter(|name| {
                let name = name.to_string_lossy().to_uppercase();
                let foreign = [
                    "CLAUDE",
                    "ANTHROPIC",
                    "CODEX",
                    "OPENAI",
                    "GEMINI",
                    "GOOGLE",
                    "OPENCODE",
                    "ACCORD_",
                    "GIT_",
                ];
                foreign.iter().any(|prefix| name.starts_with(prefix)) || name.ends_with("_PROXY")
            })
            .collect();
        for name in inherited {
            command.env_remove(name);
        }
        command.current_dir(self.at("shop")).env("HOME", self.at("")).env("PATH", &self.path);
        command.env("NO_COLOR", "1").env("LC_ALL", "C.UTF-8").env_remove("COLUMNS");
        command.env("ANTHROPIC_BASE_URL", self.api.url()).env("ANTHROPIC_API_KEY", "scripted");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.env("GOOGLE_GEMINI_BASE_URL", self.api.url()).env("GEMINI_API_KEY", "scripted");
        command.env("OPENCODE_DISABLE_MODELS_FETCH", "1").env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1");
        command.env("ACCORD_WORKERS_SANDBOX", self.sandbox);
        // The memory is outside of the repository.
        command.env("ACCORD_WORKERS_WRITABLE", self.at("memory"));
        command.env("SCRIPTED_KEY", "scripted").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "T");
            command.env(format!("GIT_{who}_EMAIL"), "t@example.org");
        }
        command
    }

    fn at(&self, path: &str) -> String {
        let home = self.home.path().canonicalize().expect("a folder");
        home.join(path).to_str().expect("text").to_owned()
    }
}

/// Bubblewrap where it works. `auto` is that, too, but does not say so.
fn default_sandbox() -> &'static str {
    let mut bubblewrap = Command::new("bwrap");
    bubblewrap.args(["--unshare-user", "--ro-bind", "/", "/", "true"]);
    match bubblewrap.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        true => "bubblewrap",
        false => "auto",
    }
}

/// The clients that a folder of clients has.
const ALWAYS: [&str; 2] = ["claude", "codex"];

/// `PATH` with the client and the command in front; `None`, with a message, if the client is not
/// installed.
fn path_with(preset: &Preset) -> Option<OsString> {
    let path = path_with_accord();
    let named = std::env::var_os("ACCORD_AGENT_CLIENTS").filter(|folder| !folder.is_empty());
    let folder = match &named {
        Some(prefix) => {
            let folder = PathBuf::from(prefix).join("node_modules/.bin");
            let client = folder.join(preset.name);
            let is_expected = ALWAYS.contains(&preset.name);
            assert!(client.exists() || !is_expected, "there is no {}", client.display());
            client.exists().then(|| folder.canonicalize().expect("a folder"))
        }
        None => std::env::split_paths(&path).find(|folder| folder.join(preset.name).is_file()),
    };
    let Some(folder) = folder else {
        // Not by a macro: the output of a test that passes would be hidden.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: the test of the agent {} needs the npm package {} (docs/agents.md)",
            preset.name,
            preset.package
        );
        return None;
    };
    let folders = std::env::split_paths(&path).chain([folder]);
    Some(std::env::join_paths(folders).expect("folders without a colon"))
}
