//! What the sandbox of one worker leaves open for the next one, and for its person.

#![cfg(target_os = "linux")]

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::accord::{Ran, run};
use crate::run_approvals::waiting;
use crate::task_place::Tasks;

/// Lets an agent work on the next task, in a sandbox.
fn work(tasks: &Tasks, script: &str, mode: &str) -> Ran {
    let agent = tasks.agent("agent.sh", &format!("cat > /dev/null\n{script}\n"));
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("ACCORD_WORKERS_SANDBOX", mode).env("DATA", tasks.data());
    run(command, "")
}

/// Whether this machine has bubblewrap. Without it the test says so, and fails in CI.
fn has_bubblewrap() -> bool {
    has_sandbox("bubblewrap")
}

fn has_sandbox(mode: &str) -> bool {
    let tasks = Tasks::new();
    tasks.create("Probe --ready");
    let ran = work(&tasks, "true", mode);
    let has = ran.stderr.contains(&format!("the sandbox is {mode}"));
    assert!(has || std::env::var_os("CI").is_none(), "{mode} is needed: {ran:?}");
    if !has {
        println!("SKIPPED: {mode} does not work here: {}", ran.stderr);
    }
    has
}

#[test]
fn a_worker_does_not_start_if_it_could_write_through_a_link() {
    for mode in ["landlock", "bubblewrap"] {
        let tasks = Tasks::new();
        let id = tasks.create("One --ready");
        let outputs = tasks.root().join(format!("tasks/ready/{id}/outputs"));
        std::fs::remove_dir(&outputs).expect("an empty folder");
        symlink("/", &outputs).expect("a link");
        let ran = work(&tasks, "touch started.txt", mode);
        assert!(!tasks.folder().join("started.txt").exists(), "{mode}: {ran:?}");
        let shown = tasks.json(&format!("show {id}")).to_string();
        assert!(shown.contains("is a link") || ran.stderr.contains("is a link"), "{mode}: {shown}");
    }
}

#[test]
fn a_worker_in_bubblewrap_sees_no_data_folder_and_makes_none() {
    if !has_bubblewrap() {
        return;
    }
    const LOOK: &str = r#"
ls "$DATA" > seen.txt
mkdir .accord/x && echo made >> seen.txt
echo x > "$DATA/accord.toml" && echo written >> seen.txt
mv var var2 && echo renamed >> seen.txt
test -w /proc/sys/kernel/core_pattern && echo kernel >> seen.txt
true"#;
    let tasks = Tasks::new();
    // A protected path below an ordinary folder.
    let linked = tasks.folder().join("var/sub");
    std::fs::create_dir_all(&linked).expect("folders");
    std::fs::write(linked.join(".git"), "gitdir: nowhere\n").expect("written");
    std::fs::write(tasks.folder().join(".gitmodules"), "[submodule \"s\"]\n path = var/sub\n")
        .expect("written");
    tasks.create("One --ready");
    let ran = work(&tasks, LOOK, "bubblewrap");
    assert!(ran.stderr.contains("the sandbox is bubblewrap"), "{ran:?}");
    let seen = std::fs::read_to_string(tasks.folder().join("seen.txt")).expect("it looked");
    assert_eq!(seen, "projects\n");
    assert!(!tasks.data().join("accord.toml").exists());
    assert!(!tasks.folder().join(".accord/x").exists());
}

#[test]
fn a_word_of_the_command_shows_no_hidden_file() {
    if !has_bubblewrap() {
        return;
    }
    let tasks = Tasks::new();
    let secret = tempfile::tempdir_in("/var/tmp").expect("a folder");
    std::fs::write(secret.path().join("key"), "secret\n").expect("written");
    // A worker planted it before. The agent's command has a word of this name.
    symlink(secret.path().join("key"), tasks.folder().join("plan")).expect("a link");
    let agent = tasks.agent("agent.sh", "cat > /dev/null; cat plan > seen.txt");
    for (mode, seen) in [("bubblewrap", ""), ("off", "secret\n")] {
        tasks.create("One --ready");
        let mut command = tasks.command(&format!("work --agent '{agent} plan' --as dev --once"));
        command.env("ACCORD_WORKERS_SANDBOX", mode);
        run(command, "");
        let file = tasks.folder().join("seen.txt");
        assert_eq!(std::fs::read_to_string(file).expect("it looked"), seen, "{mode}");
    }
}

#[test]
fn a_worker_in_landlock_opens_no_terminal() {
    if !has_sandbox("landlock") {
        return;
    }
    let tasks = Tasks::new();
    let look = "( : < /dev/ptmx ) 2> /dev/null && echo terminal > seen.txt\n\
                head -c 1 /dev/urandom > /dev/null && echo random >> seen.txt";
    for (mode, seen) in [("landlock", "random\n"), ("off", "terminal\nrandom\n")] {
        let _ = std::fs::remove_file(tasks.folder().join("seen.txt"));
        tasks.create("One --ready");
        work(&tasks, look, mode);
        let file = tasks.folder().join("seen.txt");
        assert_eq!(std::fs::read_to_string(file).expect("it looked"), seen, "{mode}");
    }
}

#[test]
fn a_command_of_a_gate_runs_in_a_sandbox_unless_its_user_opens_it() {
    if !has_bubblewrap() {
        return;
    }
    for (gates, shown) in [("sandbox", ""), ("open", "mine\n")] {
        let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        std::fs::write(home.path().join("credential"), "mine\n").expect("written");
        let place = waiting(|config| {
            let run = "cat \"$PERSON/credential\" > seen.txt; true";
            config["gates"]["planning_signoff"]["gate_actions"] = json!([{"run": run}]);
        });
        let mut command = place.command("approve-transition --yes --actor human:lead");
        command.env("HOME", home.path()).env("PERSON", home.path());
        command.env("ACCORD_WORKERS_SANDBOX", "bubblewrap").env("ACCORD_WORKERS_GATES", gates);
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(place.read("seen.txt"), shown, "{gates}");
        assert!(place.at("seen.txt").exists(), "it ran");
    }
}
