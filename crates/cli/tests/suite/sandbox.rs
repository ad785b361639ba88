//! What the sandbox of one worker leaves open for the next one, and for its person.

#![cfg(target_os = "linux")]

use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::accord::{Ran, program, run};
use crate::run_approvals::waiting;
use crate::run_place::Place;
use crate::task_commands::report;
use crate::task_place::Tasks;
use crate::wait::{output_of, pid_in, wait_for_end_of, wait_until};

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
fn git_of_a_person_does_not_add_what_protects_a_missing_file() {
    if !has_bubblewrap() {
        return;
    }
    let tasks = Tasks::new();
    tasks.create("One --ready");
    let folder = tasks.folder().to_owned();
    let git = |words: &[&str]| {
        let ran = Command::new("git").args(words).current_dir(&folder).output().expect("git");
        assert!(ran.status.success(), "{words:?}: {ran:?}");
        String::from_utf8(ran.stdout).expect("text")
    };
    git(&["init", "--quiet"]);
    let added = std::thread::scope(|scope| {
        let adding = scope.spawn(|| {
            wait_until("the worker runs", || folder.join("seen.txt").exists());
            let added = git(&["add", "--all", "--verbose"]);
            std::fs::write(folder.join("go"), "").expect("written");
            added
        });
        let wait = "ls -A > seen.tmp; mv seen.tmp seen.txt\n\
                    until test -e go; do sleep 0.05; done";
        let ran = work(&tasks, wait, "bubblewrap");
        assert!(ran.stderr.contains("the sandbox is bubblewrap"), "{ran:?}");
        adding.join().expect("git ran")
    });
    let seen = std::fs::read_to_string(folder.join("seen.txt")).expect("it looked");
    assert!(seen.lines().any(|line| line == ".mcp.json"), "{seen}");
    assert!(added.contains("seen.txt") && !added.contains(".mcp.json"), "{added}");
    assert!(folder.join(".mcp.json").symlink_metadata().is_err(), "it is left");
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

/// Outside, `git config` and editors replace a file by a rename, which takes the mount off inside.
#[test]
fn a_worker_whose_protection_came_off_is_ended() {
    if !has_bubblewrap() {
        return;
    }
    let tasks = Tasks::new();
    let git = |words: &[&str]| {
        let status = Command::new("git").current_dir(tasks.folder()).args(words).status();
        assert!(status.expect("git runs").success(), "{words:?}");
    };
    git(&["init", "-q"]);
    let id = tasks.create("One --ready");
    let agent = tasks.agent(
        "agent.sh",
        "cat > /dev/null; echo x >> .git/config || touch begun.txt; exec sleep 600",
    );
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("ACCORD_WORKERS_SANDBOX", "bubblewrap");
    let worker = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    wait_until("the worker", || tasks.folder().join("begun.txt").exists());
    git(&["config", "user.name", "lead"]);
    let ran = output_of(worker, "the end of the worker");
    let shown = tasks.json(&format!("show {id}")).to_string();
    assert!(shown.contains(".git/config while the worker ran"), "{shown} {ran:?}");
}

/// The report moves the folder of the task, which is mounted in the sandbox.
#[test]
fn an_agent_that_has_reported_can_go_on() {
    let modes = ["landlock", "bubblewrap"].into_iter().filter(|mode| has_sandbox(mode));
    for mode in modes.chain(["off"]) {
        let tasks = Tasks::new();
        let id = tasks.create("One --ready");
        let message = report(&id, "dev", "done").to_string();
        let script = format!(
            "echo '{message}' | '{}' task message > said.txt 2>&1\nsleep 1\ntouch later.txt",
            program()
        );
        // The tree of tasks is in the work tree, as it is in most repositories.
        assert!(tasks.root().starts_with(tasks.folder()));
        let ran = work(&tasks, &script, mode);
        assert_eq!(tasks.status(&id), "review", "{mode}: {ran:?}");
        assert!(tasks.folder().join("later.txt").exists(), "{mode}: {ran:?}");
    }
}

/// A filter of git whose program is in the work tree. A worker can change it, and Accord's own git
/// starts it when the turn is judged.
#[test]
fn a_filter_of_git_that_a_worker_changed_has_the_rights_of_a_worker() {
    const RESULT: &str = r#"{"schema_version":"1.0","run_id":"RUN","turn_id":"TURN","role":"pm",
"runtime_id":"agent","status":"completed","summary":"Done","decisions":[],"objections":[],
"files_changed":["a.txt","tools/clean.sh"],
"verification":{"status":"pass","commands":[],"evidence_summary":"Read"},
"artifact":{"type":"workspace","ref":null},"proposed_next_role":"dev"}"#;
    let modes = ["landlock", "bubblewrap"].into_iter().filter(|mode| has_sandbox(mode));
    for mode in modes.chain(["off"]) {
        let marks = tempfile::tempdir().expect("a folder");
        let shown = marks.path().display();
        let script = format!(
            "cat > /dev/null; cat > tools/clean.sh <<'END'\n#!/bin/sh\n\
             touch '{shown}/ran'; setsid sleep 600 > /dev/null 2>&1 & echo $! > '{shown}/pid'\n\
             cat\nEND\necho changed > a.txt\n\
             mkdir -p \"$(dirname \"$AGENTXCHAIN_STAGING_PATH\")\"\n\
             sed \"s/RUN/$AGENTXCHAIN_RUN_ID/;s/TURN/$AGENTXCHAIN_TURN_ID/\" \
             > \"$AGENTXCHAIN_STAGING_PATH\" <<'END'\n{RESULT}\nEND\n"
        );
        let place = Place::begun_with(|config| {
            let runtime = json!({"type": "local_cli", "command": ["sh", "-c", script],
                                 "prompt_transport": "stdin"});
            config["runtimes"]["agent"] = runtime;
            config["roles"]["pm"]["runtime"] = json!("agent");
        });
        place.write("tools/clean.sh", "#!/bin/sh\ncat\n");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(place.at("tools/clean.sh"), executable).expect("changed");
        place.write("a.txt", "first\n");
        place.write(".gitattributes", "*.txt filter=fmt\n");
        place.git(&["config", "filter.fmt.clean", "tools/clean.sh"]);
        place.commit();
        let mut step = place.command("step");
        step.env("ACCORD_WORKERS_SANDBOX", mode);
        let ran = run(step, "");
        let has_run = marks.path().join("ran").exists();
        assert_eq!((ran.code, has_run), (0, mode == "off"), "{mode}: {ran:?}");
        // What it leaves behind is ended.
        if has_run {
            wait_for_end_of(&pid_in(&marks.path().join("pid")));
        }
    }
}

/// The git of a command that was killed finishes: a killed git would leave its lock file, and a
/// person's next git would refuse to work.
#[test]
fn a_git_that_was_started_outlives_a_killed_command() {
    const FILTER: &str = "#!/bin/sh
if [ -e .git/index.lock ]; then
  tries=0
  until [ -e go ] || [ $tries -gt 1200 ]; do sleep 0.05; tries=$((tries + 1)); done
fi
cat
";
    let modes = ["landlock", "bubblewrap"].into_iter().filter(|mode| has_sandbox(mode));
    for mode in modes.chain(["off"]) {
        let place = Place::begun();
        place.write("tools/clean.sh", FILTER);
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(place.at("tools/clean.sh"), executable).expect("changed");
        place.write(".gitattributes", "*.txt filter=fmt\n");
        place.write(".gitignore", "/go\n");
        place.commit();
        place.git(&["config", "filter.fmt.clean", "tools/clean.sh"]);
        place.work("pm", &["a.txt"], |_| {});
        place.write("a.txt", "changed\n");
        place.run("accept").yes();
        let mut checkpoint = place.command("checkpoint");
        checkpoint.env("ACCORD_WORKERS_SANDBOX", mode).stdin(Stdio::null());
        let mut checkpoint = checkpoint.spawn().expect("accord starts");
        let lock = place.at(".git/index.lock");
        wait_until("git to write its index", || lock.exists());
        checkpoint.kill().expect("killed");
        checkpoint.wait().expect("ended");
        place.write("go", "");
        wait_until(format_args!("the end of git, {mode}"), || !lock.exists());
        place.run("checkpoint").yes();
        place.git(&["diff", "--quiet", "HEAD", "--", "a.txt"]);
    }
}
