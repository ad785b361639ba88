//! Attacks of a worker on what judges it and on its person, in each sandbox.
//!
//! Each attack is a line of shell that a worker runs. It says whether it reached its goal; where
//! a worker could be deceived, such as by a private home, the test looks from outside as well.
//! The documents on trust say the same as this table.

mod table;
mod tasks;

use std::collections::BTreeSet;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::accord::{Ran, run};
use crate::run_place::Place;

use table::ATTACKS;

/// What becomes of an attack.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Outcome {
    /// It does not reach its goal.
    Prevented,
    /// It reaches its goal, and Accord refuses the turn, puts the change back, or warns.
    Noticed,
    NotStopped,
}

/// An attack, and its outcome without a sandbox, in Landlock and in bubblewrap.
struct Attack {
    name: &'static str,
    /// Succeeds if the goal was reached, as far as the worker sees.
    script: &'static str,
    /// Succeeds if the goal was reached, seen by the person in the repository.
    outside: &'static str,
    outcomes: [Outcome; 3],
}

const MODES: [&str; 3] = ["off", "landlock", "bubblewrap"];

#[test]
fn without_a_sandbox_every_attack_reaches_its_goal() {
    for attack in ATTACKS {
        assert_ne!(attack.outcomes[0], Outcome::Prevented, "{} proves nothing", attack.name);
    }
    check_mode(0);
}

#[test]
fn landlock_protects_what_is_outside_of_the_work_tree() {
    if is_available("landlock") {
        check_mode(1);
    }
}

#[test]
fn bubblewrap_protects_what_judges_and_what_is_executed_later() {
    if is_available("bubblewrap") {
        check_mode(2);
    }
}

#[test]
fn a_sandbox_that_is_required_and_missing_stops_the_worker() {
    let desk = Desk::new("bubblewrap", "true");
    let empty = tempfile::tempdir().expect("a folder");
    let mut command = desk.command("step");
    // Git must be found, bubblewrap must not.
    let git = Command::new("sh").args(["-c", "command -v git"]).output().expect("a shell");
    let git = String::from_utf8(git.stdout).expect("a path");
    std::os::unix::fs::symlink(git.trim(), empty.path().join("git")).expect("a link");
    command.env("PATH", empty.path());
    let ran = run(command, "");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("it has no sandbox: bubblewrap is not installed"), "{ran:?}");
}

#[test]
fn nothing_of_a_sandbox_is_left_in_the_tree() {
    if !is_available("bubblewrap") {
        return;
    }
    let desk = Desk::new("bubblewrap", "ls -A > seen.txt; git status --short >> seen.txt");
    let ran = desk.step();
    assert_eq!(ran.code, 0, "{ran:?}");
    let seen = desk.place.read("seen.txt");
    assert!(seen.lines().any(|line| line == ".mcp.json"), "{seen}");
    // Git does not see what stands in the place of a missing file.
    assert!(!seen.contains("?? .mcp.json"), "{seen}");
    for name in [".mcp.json", ".claude", ".envrc", "opencode.json"] {
        assert!(!desk.place.at(name).exists(), "{name} is left");
    }
    let status = desk.place.json("status");
    assert_eq!(status["state"]["status"], "active", "{status}");
    let history = desk.place.lines(".agentxchain/history.jsonl");
    assert_eq!(history[0]["worker_sandbox"], "bubblewrap");
}

/// Runs the attacks of a mode: those that are prevented, and those that are not stopped, each with
/// one worker; those that are noticed each with a worker of its own.
#[track_caller]
fn check_mode(mode: usize) {
    let of = |outcome: Outcome| ATTACKS.iter().filter(move |it| it.outcomes[mode] == outcome);
    let names = |outcome| of(outcome).map(|attack| attack.name).collect::<BTreeSet<_>>();
    let prevented: Vec<&Attack> = of(Outcome::Prevented).collect();
    let (ran, reached) = attempt(mode, &prevented);
    assert_eq!(reached, BTreeSet::new(), "{}: prevented attacks passed", MODES[mode]);
    assert_eq!(ran.code, 0, "{}: {ran:?}", MODES[mode]);
    // Otherwise every attack would seem to be noticed.
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("warning"), "{ran:?}");
    let open: Vec<&Attack> = of(Outcome::NotStopped).collect();
    let (_, reached) = attempt(mode, &open);
    assert_eq!(reached, names(Outcome::NotStopped), "{}: not stopped", MODES[mode]);
    for attack in of(Outcome::Noticed) {
        let (ran, reached) = attempt(mode, &[attack]);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let is_noticed = ran.code != 0 || said.contains("put back") || said.contains("warning");
        assert!(is_noticed, "{}: {}: {ran:?}", MODES[mode], attack.name);
        assert_eq!(reached.len(), 1, "{}: {} did not pass", MODES[mode], attack.name);
    }
}

/// Lets one worker run attacks. Returns what the command said, and which attacks reached their
/// goals.
#[track_caller]
fn attempt(mode: usize, attacks: &[&Attack]) -> (Ran, BTreeSet<&'static str>) {
    let mut script = String::new();
    for (at, attack) in attacks.iter().enumerate() {
        script.push_str(&format!("( {} ) && echo {at} >> reached.txt\n", attack.script));
    }
    let desk = Desk::new(MODES[mode], &script);
    let ran = desk.step();
    let inside = desk.place.read("reached.txt");
    let reached = attacks.iter().enumerate().filter(|(at, attack)| {
        inside.lines().any(|line| line == at.to_string()) && desk.sees(attack.outside)
    });
    let reached = reached.map(|(_, attack)| attack.name).collect();
    (ran, reached)
}

/// Whether this machine has a sandbox. Without it the test says so, and fails in CI.
fn is_available(mode: &str) -> bool {
    let desk = Desk::new(mode, "true");
    let ran = desk.step();
    if !ran.stderr.contains("it has no sandbox") {
        assert_eq!(ran.code, 0, "{mode}: {ran:?}");
        return true;
    }
    assert!(std::env::var_os("CI").is_none(), "{mode} is needed: {ran:?}");
    println!("SKIPPED: {mode} does not work here: {}", ran.stderr);
    false
}

/// A person with a home, and a governed repository whose agent runs a script.
struct Desk {
    mode: String,
    place: Place,
    home: TempDir,
    _socket: UnixListener,
}

impl Desk {
    fn new(mode: &str, script: &str) -> Self {
        // The agent reports as it should, whatever else it does. It begins when its start is
        // recorded: that record would replace an edit of the state.
        let agent = format!(
            "#!/bin/sh\nexec > attacks.log 2>&1\n\
             until grep -q worker_pid .agentxchain/state.json; do sleep 0.01; done\n\
             touch reached.txt; date > work.md\n{script}\n\
             printf '%s' \"$RESULT\" | sed \"s/RUN/$AGENTXCHAIN_RUN_ID/; \
             s/TURN/$AGENTXCHAIN_TURN_ID/\" > \"$AGENTXCHAIN_STAGING_PATH\"\n"
        );
        let place = Place::begun_with(|config| {
            config["roles"]["pm"]["runtime"] = json!("agent");
            config["runtimes"]["agent"] = json!({"type": "local_cli", "command": ["./agent.sh"]});
        });
        place.write("agent.sh", &agent);
        place.write(".gitignore", "*.log\nreached.txt\nseen.txt\nstolen*\n");
        let mut chmod = Command::new("chmod");
        chmod.args(["755", "agent.sh"]).current_dir(place.root());
        assert_eq!(run(chmod, "").code, 0);
        place.commit();
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        for (name, text) in [(".bashrc", "true\n"), (".ssh/id", "secret\n"), (".claude/x", "")] {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let socket = UnixListener::bind(home.path().join("socket")).expect("a socket");
        Self { mode: mode.to_owned(), place, home, _socket: socket }
    }

    fn command(&self, words: &str) -> Command {
        let mut command = self.place.command(words);
        command.env("HOME", self.home.path()).env("PERSON", self.home.path());
        command.env("ACCORD_WORKERS_SANDBOX", &self.mode).env("STATE", self.state());
        command.env_remove("XDG_CONFIG_HOME").env("RESULT", RESULT);
        command
    }

    fn state(&self) -> &Path {
        self.place.state()
    }

    fn step(&self) -> Ran {
        run(self.command("step"), "")
    }

    /// Whether a command of the person succeeds.
    fn sees(&self, script: &str) -> bool {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(self.place.root());
        shell.env("PERSON", self.home.path()).env("STATE", self.state());
        let mut child = shell.stdin(Stdio::null()).spawn().expect("a shell");
        child.wait().expect("it ends").success()
    }
}

const RESULT: &str = r#"{"schema_version": "1.0", "run_id": "RUN", "turn_id": "TURN",
"role": "pm", "runtime_id": "agent", "status": "completed", "summary": "Done.",
"decisions": [], "objections": [], "files_changed": ["work.md"], "artifacts_created": [],
"verification": {"status": "skipped"}, "artifact": {"type": "workspace", "ref": null},
"proposed_next_role": "human"}"#;
