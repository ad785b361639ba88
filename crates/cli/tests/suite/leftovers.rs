//! Processes of workers that nobody ended: no decision until they are gone.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::accord::{program, run};
use crate::memory::bare;
use crate::run_place::Place;
use crate::server::Server;
use crate::task_place::Tasks;
use crate::terminal::at_terminal;
use crate::wait::{is_running, pid_in, signal, wait_for, wait_for_end_of};

/// A process without an environment and in a session of its own. It runs a command of a person once
/// it is asked to.
const LEAVE: &str = r#"cat > "$LEFT/daemon.sh" <<'END'
echo $$ > "$1/pid"
until [ -e "$1/go" ]; do sleep 0.05; done
. "$1/go" > "$1/said.new" 2>&1
mv "$1/said.new" "$1/said"
exec sleep 600
END
setsid env -i PATH="$PATH" sh "$LEFT/daemon.sh" "$LEFT" < /dev/null > /dev/null 2>&1 &
sleep 600
"#;

fn start(mut command: Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("it starts")
}

/// Waits until the record has the process, then kills the launcher and the supervisor.
fn kill_those_who_would_end_it(mut supervisor: Child, state: &Path, pid: &str) {
    let folder = state.join("accord/processes");
    let launcher = wait_for("the record of the processes", || {
        let files = std::fs::read_dir(&folder).ok()?.flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        let text = texts.find(|text| text.contains(&format!("process {pid} ")))?;
        let mut keepers = text.lines().filter_map(|line| line.strip_prefix("keeper "));
        let launcher = keepers.next_back()?.split(' ').next()?;
        Some(launcher.parse::<u32>().expect("a number"))
    });
    assert_ne!(launcher, supervisor.id());
    // The supervisor would end what it gets from a killed launcher.
    signal(supervisor.id(), "-STOP");
    signal(launcher, "-KILL");
    signal(supervisor.id(), "-KILL");
    supervisor.wait().expect("it ended");
    wait_for_end_of(&launcher.to_string());
}

/// The process closes a task as a person would, and is refused.
#[track_caller]
fn assert_decides_nothing(left: &Path, tasks: &Tasks, state: &Path, id: &str) {
    let close = format!(
        "cd '{}'; XDG_STATE_HOME='{}' ACCORD_DATA='{}' ACCORD_PROJECT=shop '{}' task close \
         {id} --yes --actor human:lead\n",
        tasks.folder().display(),
        state.display(),
        tasks.data().display(),
        program(),
    );
    // At once as a whole: the process reads it when it is there.
    std::fs::write(left.join("go.new"), close).expect("written");
    std::fs::rename(left.join("go.new"), left.join("go")).expect("renamed");
    let said =
        wait_for("the answer to the process", || std::fs::read_to_string(left.join("said")).ok());
    assert!(said.contains("not_for_workers"), "{said}");
    assert_eq!(tasks.status(id), "backlog");
}

/// Ends what the worker left: its daemon, and its shell.
fn end_all(state: &Path) {
    let files = std::fs::read_dir(state.join("accord/processes")).expect("records").flatten();
    for file in files {
        let text = std::fs::read_to_string(file.path()).expect("a record");
        for line in text.lines().filter_map(|line| line.strip_prefix("process ")) {
            let pid = line.split(' ').next().expect("a number");
            let _ = Command::new("kill").args(["-KILL", pid]).stderr(Stdio::null()).status();
            wait_for_end_of(pid);
        }
    }
}

#[test]
fn what_the_worker_of_a_task_left_stops_decisions_until_it_is_gone() {
    for is_served in [false, true] {
        let (tasks, left) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
        let state = tempfile::tempdir().expect("a folder");
        let id = tasks.create("One --ready");
        let other = tasks.create("Two");
        let _host = is_served.then(|| serve(&tasks, state.path()));
        let with_state = |words: &str| {
            let mut command = tasks.command(words);
            command.env("XDG_STATE_HOME", state.path());
            command
        };
        let agent = tasks.agent("leave.sh", &format!("cat > /dev/null\n{LEAVE}"));
        let work = format!("work --agent '{agent}' --as dev --once");
        let mut work = with_state(&work);
        work.env("LEFT", left.path()).env("ACCORD_WORKERS_SANDBOX", "off");
        let supervisor = start(work);
        let pid = pid_in(&left.path().join("pid"));
        kill_those_who_would_end_it(supervisor, state.path(), &pid);

        let refused = run(with_state(&format!("close {id} --yes")), "");
        assert_eq!(refused.code, 2, "{is_served}: {refused:?}");
        let said = refused.stderr.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(said.contains("worker_still_runs") && said.contains(&pid), "{said}");
        // A process without a terminal cannot say that a person takes the risk.
        let refused = run(with_state(&format!("close {id} --yes --despite-leftovers")), "");
        assert!(refused.stderr.contains("worker_still_runs"), "{is_served}: {refused:?}");
        // It is still known as a worker, and decides nothing about other tasks either.
        assert_decides_nothing(left.path(), &tasks, state.path(), &other);

        let closed = at_terminal(with_state(&format!("close {id} --despite-leftovers")), "y\n");
        assert_eq!(closed.code, 0, "{is_served}: {}", closed.shown);
        let lines = tasks.root().join("state/accord/decisions.jsonl");
        let lines = std::fs::read_to_string(lines).expect("decisions");
        let line: Value = serde_json::from_str(lines.lines().last().expect("one")).expect("JSON");
        let named = line["decision"]["left_running"].as_str().expect("the processes");
        assert!(named.contains(&format!("{pid} of {id}")), "{line}");

        end_all(state.path());
        let again = run(with_state(&format!("close {other} --yes")), "");
        assert_eq!(again.code, 0, "{is_served}: {again:?}");
    }
}

/// A host that has the same records of processes as the commands.
fn serve(tasks: &Tasks, state: &Path) -> Server {
    let data = tasks.data();
    let words = ["serve", "--listen", "127.0.0.1:0", "--data", data.to_str().expect("text")];
    Server::begin(bare(&words).env("XDG_STATE_HOME", state).stderr(Stdio::piped()))
}

#[test]
fn what_the_worker_of_a_turn_left_stops_decisions_until_it_is_gone() {
    let left: TempDir = tempfile::tempdir().expect("a folder");
    let script = format!("LEFT='{}'; export LEFT\n{LEAVE}", left.path().display());
    let place = Place::begun_with(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["runtimes"]["agent"] = json!({"type": "local_cli", "command": ["sh", "-c", script]});
    });
    let mut step = place.command("step");
    step.env("ACCORD_WORKERS_SANDBOX", "off");
    let supervisor = start(step);
    let pid = pid_in(&left.path().join("pid"));
    kill_those_who_would_end_it(supervisor, place.state(), &pid);
    let left = format!("the process {pid} of turn_");
    assert!(place.json("status")["last_warnings"].to_string().contains(&left));
    let refused = place.run("adopt --yes");
    let said = refused.stderr.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(said.contains("worker_still_runs") && said.contains(&pid), "{said}");
    end_all(place.state());
    let again = place.run("adopt --yes");
    assert!(!again.stderr.contains("worker_still_runs"), "{again:?}");
}

/// What it starts decides nothing either, also when it has left its parents.
#[test]
fn a_program_that_is_kept_lives_on_and_stays_a_worker() {
    let (tasks, left) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    let state = tempfile::tempdir().expect("a folder");
    let id = tasks.create("One --ready");
    let other = tasks.create("Two");
    std::fs::write(left.path().join("devserver"), DEVSERVER).expect("written");
    let agent = tasks.agent(
        "serve.sh",
        "cat > /dev/null\n\
         setsid env -i PATH=\"$PATH\" sh \"$LEFT/devserver\" \"$LEFT\" > /dev/null 2>&1 &\n\
         setsid sleep 600 & echo $! > \"$LEFT/sleep\"\n\
         until [ -s \"$LEFT/pid\" ]; do sleep 0.02; done",
    );
    let with_state = |words: &str| {
        let mut command = tasks.command(words);
        command.env("XDG_STATE_HOME", state.path());
        command
    };
    let mut work = with_state(&format!("work --agent '{agent}' --as dev --once"));
    work.env("LEFT", left.path()).env("ACCORD_WORKERS_KEEP", "devserver");
    let worked = run(work, "");
    assert_eq!((worked.code, tasks.status(&id).as_str()), (0, "review"), "{worked:?}");
    let pid = pid_in(&left.path().join("pid"));
    assert!(is_running(&pid), "it is kept");
    assert!(!is_running(&pid_in(&left.path().join("sleep"))), "nothing else is");
    assert_decides_nothing(left.path(), &tasks, state.path(), &other);
    // The review is decided while it runs.
    let approved = run(with_state(&format!("approve {id} --yes")), "");
    assert_eq!(approved.code, 0, "{approved:?}");
    // Its launcher ends with it.
    signal(pid.parse().expect("a number"), "-KILL");
    let folder = state.path().join("accord/processes");
    wait_for("the end of the launcher", || {
        std::fs::read_dir(&folder).expect("a folder").next().is_none().then_some(())
    });
}

/// A server that runs a command of a person in a process that has left it.
const DEVSERVER: &str = r#"echo $$ > "$1/pid"
until [ -e "$1/go" ]; do sleep 0.05; done
(setsid sh -c '(sleep 0.2; . "$0/go" > "$0/said.new" 2>&1; mv "$0/said.new" "$0/said") &' "$1")
while :; do sleep 1; done
"#;
