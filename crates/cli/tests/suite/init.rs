//! `accord init` and `accord hook`, as a person and a client use them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::accord::{Ran, path_with_accord, run};
use crate::edges::Hub;
use crate::memory::bare;
use crate::server::Server;
use crate::wait::wait_until;

/// A repository `shop` in the home folder of a person.
struct Place {
    home: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { home: tempfile::tempdir().expect("a folder") };
        fs::create_dir(place.at("shop")).expect("a folder");
        place.git("shop", &["init", "--quiet"]);
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().canonicalize().expect("a path").join(path)
    }

    /// The folder with the records of the repository.
    fn records(&self) -> PathBuf {
        let all = fs::read_dir(self.at(".local/state/accord/wiring")).into_iter().flatten();
        let mut all = all.map(|entry| entry.expect("an entry").path());
        let records = all.next().unwrap_or_else(|| self.at(".local/state/accord/wiring/none"));
        assert_eq!(all.next(), None);
        records
    }

    #[track_caller]
    fn git(&self, at: &str, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@localhost"]).args(args);
        git.current_dir(self.at(at)).env("HOME", self.at("")).env("GIT_CONFIG_NOSYSTEM", "1");
        let ran = run(git, "");
        assert_eq!(ran.code, 0, "git {args:?}: {ran:?}");
        ran.stdout
    }

    fn command(&self, at: &str, words: &str) -> Command {
        let args = shell_words::split(words).expect("words");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = bare(&args);
        command.current_dir(self.at(at)).env("HOME", self.at("")).env("PATH", path_with_accord());
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
            command.env_remove(name);
        }
        command
    }

    fn types(&self, words: &str) -> Ran {
        run(self.command("shop", words), "")
    }

    #[track_caller]
    fn deposit(&self, words: &str) {
        let words = format!("context deposit --actor human:lead {words}");
        assert_eq!(self.types(&words).code, 0);
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The files of the repository that git would see.
    fn files(&self) -> String {
        self.git("shop", &["status", "--short", "--untracked-files=all"])
    }

    /// What the hook prints. On a busy machine, one second may not be enough at once.
    #[track_caller]
    fn briefing(&self, words: &str, at: &str) -> String {
        let mut text = None;
        wait_until(format_args!("a briefing"), || {
            text = self.hook(words, at);
            text.is_some()
        });
        text.expect("a briefing")
    }

    /// Runs the hook with the event of a session in a folder. Returns what the model would see.
    #[track_caller]
    fn hook(&self, words: &str, at: &str) -> Option<String> {
        // A client can start the hook anywhere.
        let command = self.command("", &format!("hook {words}"));
        let ran = run(command, event(&self.at(at).to_string_lossy()));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
        (!ran.stdout.is_empty()).then(|| {
            let answer: Value = serde_json::from_str(&ran.stdout).expect("one document");
            let output = &answer["hookSpecificOutput"];
            assert_eq!(output["hookEventName"], "SessionStart");
            output["additionalContext"].as_str().expect("a text").to_owned()
        })
    }
}

fn event(folder: &str) -> String {
    json!({"session_id": "s", "transcript_path": "/t", "cwd": folder,
        "hook_event_name": "SessionStart", "source": "startup"})
    .to_string()
}

#[test]
fn an_agent_is_connected_once_and_removed_without_a_trace() {
    let place = Place::new();
    fs::write(place.at("shop/AGENTS.md"), "# Shop").expect("a file");
    let before = place.files();
    let shown = place.types("init claude --dry-run");
    assert_eq!(shown.code, 1, "{shown:?}");
    assert!(shown.stdout.contains("+++ b/.mcp.json\n"), "{shown:?}");
    assert_eq!(place.files(), before, "--dry-run writes nothing");
    let refused = place.types("init claude").refused("WIRING_UNCONFIRMED");
    assert!(refused.contains("accord init claude --dry-run"), "{refused}");
    assert_eq!(place.files(), before);

    let said = place.types("init claude --yes").yes();
    assert!(said.starts_with("Claude Code: connected for project shop\n"), "{said}");
    for part in ["  new      .mcp.json", "  changed  AGENTS.md", "  approve  start `claude` here"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let files = place.files();
    assert_eq!(files, "?? .claude/settings.json\n?? .mcp.json\n?? AGENTS.md\n");
    let records = place.records();
    let ledger = records.join("ledger.json");
    assert!(ledger.exists() && !place.at("shop/.accord").exists());

    // Again: nothing is written.
    let written = |path: &PathBuf| fs::metadata(path).and_then(|it| it.modified()).ok();
    let paths = [place.at("shop/.mcp.json"), place.at("shop/AGENTS.md"), ledger.clone()];
    let times = paths.each_ref().map(written);
    let said = place.types("init claude").yes();
    assert!(said.contains("nothing to change"), "{said}");
    let again = paths.each_ref().map(written);
    assert_eq!(times, again);
    assert_eq!(place.types("init claude --dry-run").code, 0);

    assert_eq!(place.types("init claude --remove --dry-run").code, 1);
    place.types("init claude --remove --yes").yes();
    assert_eq!(place.files(), before);
    assert_eq!(place.text("shop/AGENTS.md"), "# Shop");
    assert!(!records.exists() && fs::read_dir(place.at(".local/state/accord/wiring")).is_ok());
    let said = place.types("init claude --remove").yes();
    assert_eq!(said, "Claude Code: nothing to remove\n");
}

#[test]
fn the_bytes_from_before_are_private_and_modes_stay() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = Place::new();
    let path = place.at("shop/AGENTS.md");
    fs::write(&path, "# Shop").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
    place.types("init codex --yes").yes();
    let mode = |path: PathBuf| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(path), 0o640);
    let records = place.records();
    assert_eq!(mode(records.join("ledger.json")), 0o600);
    let kept = fs::read_dir(records.join("before")).expect("a folder");
    let modes: Vec<u32> = kept.map(|entry| mode(entry.expect("an entry").path())).collect();
    assert_eq!(modes, [0o600]);
}

#[test]
fn a_refusal_names_the_file_and_writes_nothing() {
    let place = Place::new();
    fs::create_dir(place.at("shop/.codex")).expect("a folder");
    fs::write(place.at("shop/.codex/hooks.json"), "{\n  bad\n}").expect("a file");
    let before = place.files();
    let refused = place.types("init codex --yes").refused("WIRING_FILE_BROKEN");
    assert!(refused.contains(".codex/hooks.json, line 2, column 3"), "{refused}");
    assert_eq!(place.files(), before);
    assert!(!place.at("shop/.codex/config.toml").exists());

    fs::remove_dir_all(place.at("shop/.codex")).expect("removed");
    // The record cannot be written: what was written before is undone.
    fs::write(place.at("shop/AGENTS.md"), "# Shop").expect("a file");
    fs::create_dir_all(place.at(".local/state/accord")).expect("a folder");
    fs::write(place.at(".local/state/accord/wiring"), "").expect("a file");
    place.types("init codex --yes").refused("OUTPUT_FAILED");
    assert_eq!(place.text("shop/AGENTS.md"), "# Shop");
    assert!(!place.at("shop/.codex").exists());
}

#[test]
fn a_link_out_of_the_repository_is_refused() {
    let place = Place::new();
    fs::write(place.at("mine.json"), "{}\n").expect("a file");
    std::os::unix::fs::symlink(place.at("mine.json"), place.at("shop/.mcp.json")).expect("a link");
    place.types("init claude --yes").refused("WIRING_OUTSIDE");
    assert_eq!(place.text("mine.json"), "{}\n");
    // One inside stays a link.
    fs::remove_file(place.at("shop/.mcp.json")).expect("removed");
    fs::write(place.at("shop/servers.json"), "{}\n").expect("a file");
    std::os::unix::fs::symlink("servers.json", place.at("shop/.mcp.json")).expect("a link");
    place.types("init claude --yes").yes();
    assert!(place.at("shop").join(".mcp.json").is_symlink());
    assert!(place.text("shop/servers.json").contains("accord"));
    place.types("init claude --remove --yes").yes();
    assert_eq!(place.text("shop/servers.json"), "{}\n");
}

#[test]
fn check_says_what_is_missing_and_that_the_server_answers() {
    let place = Place::new();
    let ran = place.types("init claude --check");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("  file     .mcp.json: missing"), "{ran:?}");
    place.types("init claude --yes").yes();
    let said = place.types("init claude --check").yes();
    assert!(said.starts_with("Claude Code: connected\n"), "{said}");
    assert!(said.contains("  server   accord mcp --project shop answers"), "{said}");
    assert!(said.contains("  approve  start `claude` here"), "{said}");
    // No memory was made.
    assert!(!place.at("shop/.accord/accord.db").exists());

    let text = place.text("shop/.mcp.json").replace("\"shop\"", "\"books\"");
    fs::write(place.at("shop/.mcp.json"), text).expect("a file");
    let ran = place.types("init claude --check --project shop");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("  kept     .mcp.json: mcpServers.accord"), "{ran:?}");

    let list = place.types("init --list").yes();
    assert!(list.contains("claude") && list.contains("connected, "), "{list}");
    assert!(list.contains("not connected, "), "{list}");
}

#[test]
fn the_project_is_that_of_the_memory_and_a_server_is_named_without_its_key() {
    let place = Place::new();
    place.deposit("--project books --title Begin");
    place.types("init claude --yes").messages();
    assert!(place.text("shop/.mcp.json").contains("\"books\""));

    let mut command = place.command("shop", "init codex gemini --yes");
    command.env("ACCORD_URL", "https://memory.example.org").env("ACCORD_KEY", "accord_secret");
    let said = run(command, "").yes();
    assert!(!said.contains("accord_secret"), "{said}");
    let text = place.text("shop/.codex/config.toml");
    assert!(text.contains("\"--url\", \"https://memory.example.org\""), "{text}");
    let hook = place.text("shop/.gemini/settings.json");
    assert!(hook.contains("\"accord hook --url https://memory.example.org\""), "{hook}");
    assert!(!place.text("shop/.gemini/settings.json").contains("accord_secret"));
    // The settings are what holds, without the variable, too.
    let said = place.types("init codex").yes();
    assert!(said.contains("nothing to change") && said.contains("ACCORD_KEY is not set"), "{said}");
}

#[test]
fn an_agent_in_a_joined_folder_uses_the_memory_of_the_hub() {
    let place = Place::new();
    let hub = Hub::with(&[]);
    place.types("task init --root . --project shop --actor human:lead").yes();
    place.types(&format!("join {} --project shop", hub.url())).yes();
    place.types("init claude --yes").yes();
    let text = place.text("shop/.mcp.json");
    assert!(text.contains(&format!("\"--url\", \"{}\"", hub.url())), "{text}");
    assert!(text.contains("\"--project\", \"shop\""), "{text}");
    assert!(text.contains("\"ACCORD_KEY\": \"${ACCORD_KEY:-}\""), "{text}");
    // The agent's session begins with what the hub knows.
    let by = format!("--url {} --project shop --actor agent:planner", hub.url());
    place.types(&format!("context deposit {by} --title 'From afar'")).yes();
    let options = format!("--url {} --project shop", hub.url());
    assert!(place.text("shop/.claude/settings.json").contains(&format!("hook {options}")));
    assert!(place.briefing(&options, "shop").contains("From afar"));
    let said = place.types("init claude --check").yes();
    assert!(said.contains(&format!("{} answers", hub.url())), "{said}");
}

#[test]
fn a_worker_does_not_change_the_settings_of_its_agent() {
    let place = Place::new();
    let mut command = place.command("shop", "init claude --yes");
    command.env("AGENTXCHAIN_TURN_ID", "turn_1");
    let refused = run(command, "").refused("");
    assert!(refused.contains("worker") || refused.contains("person"), "{refused}");
    assert!(!place.at("shop/.mcp.json").exists());
}

#[test]
fn the_settings_of_the_user_are_changed_on_demand_alone() {
    let place = Place::new();
    place.types("init codex --user --yes").yes();
    assert_eq!(place.files(), "");
    assert!(place.at(".local/state/accord/wiring/user/ledger.json").exists());
    let text = place.text(".codex/config.toml");
    assert!(text.contains("args = [\"mcp\"]"), "{text}");
    let said = place.types("init codex").yes();
    assert!(said.contains("for all projects"), "{said}");
    place.types("init codex --user --remove --yes").yes();
    assert!(!place.at(".codex").exists());
}

#[test]
fn the_hook_prints_the_briefing_of_the_folder_of_the_session() {
    let place = Place::new();
    place.deposit("--project shop --title Payments --handoff 'Next is the timeout'");
    let text = place.briefing("", "shop");
    let first = text.lines().next().expect("a line");
    assert!(first.starts_with("Accord memory of project shop, as of 20"), "{first}");
    assert!(text.contains("Next is the timeout"), "{text}");
    // In a linked work tree, too.
    place.git("shop", &["commit", "--quiet", "--allow-empty", "-m", "one"]);
    place.git("shop", &["worktree", "add", "--quiet", "../side"]);
    assert!(place.briefing("--project shop", "side").contains("timeout"));

    // The project of the option, where there are several.
    place.deposit("--project books --title Stock");
    assert_eq!(place.hook("", "shop"), None);
    assert!(place.briefing("--project books", "shop").contains("Stock"));
    assert_eq!(place.hook("--project boks", "shop"), None);

    // It stays within its budget.
    for at in 0..8 {
        let decision = format!("decision {at} of many words about retries and limits ").repeat(16);
        place.deposit(&format!("--project shop --title 'Decision {at}' --decision '{decision}'"));
    }
    let text = place.briefing("--project shop", "shop");
    assert!(accord_base::tokens(&text) <= 1000, "{}", accord_base::tokens(&text));
    assert!(text.contains("Decision 0") && text.contains("chars)"), "{text}");
}

#[test]
fn a_served_memory_is_asked_and_a_locked_one_is_not_waited_for() {
    let place = Place::new();
    place.deposit("--project shop --title Payments");
    let server = Server::start(&place.at("shop/.accord"), &[]);
    assert!(place.briefing("", "shop").contains("Payments"));
    drop(server);
    // A host that has the folder and does not answer.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let began = Instant::now();
    assert_eq!(place.hook(&format!("--project shop --url {url}"), "shop"), None);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn the_hook_is_silent_without_a_memory_and_for_other_events() {
    let place = Place::new();
    assert_eq!(place.hook("", "shop"), None);
    assert!(!place.at("shop/.accord").exists(), "a reader makes no folder");
    place.deposit("--project shop --title Payments");
    let folder = place.at("shop").to_string_lossy().into_owned();
    let stop = event(&folder).replace("SessionStart", "Stop");
    for input in ["", "{", "[]", &stop, &event("/no/such/folder")] {
        let ran = run(place.command("shop", "hook --project shop"), input);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{input}");
    }
}
