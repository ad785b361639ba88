//! `accord task work`: agents that work on tasks, well and badly.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::accord::{Ran, run};
use crate::memory::bare;
use crate::server::Server;
use crate::task_commands::report;
use crate::task_place::Tasks;
use crate::wait::{exit_of, output_of, signal, wait_until};

/// An agent that leaves a report.
const GOOD: &str = r#"cat > "$ACCORD_TASK_DIR/work/briefing.md"
echo "working on $ACCORD_TASK_ID"
echo done > "$ACCORD_TASK_DIR/outputs/summary.md"
echo '{"outcome":"done","notes":"all of it"}' > "$ACCORD_TASK_DIR/outputs/report.json"
"#;

/// An agent that says that it began and works until it is ended.
const ENDLESS: &str = r#"cat > /dev/null
touch "$ACCORD_TASK_DIR/work/began"
for _ in $(seq 1000); do kill -0 "$PPID" 2>/dev/null || exit 1; sleep 0.1; done
"#;

#[test]
fn an_agent_gets_its_briefing_and_its_report_counts() {
    let tasks = Tasks::new();
    let before = tasks.create("'Choose the format' --ready --no-review");
    let agent = tasks.agent("good.sh", GOOD);
    work(&tasks, &format!("--agent '{agent}' --as dev --once"));
    assert_eq!(tasks.status(&before), "done");
    let id = tasks.create(&format!(
        "'Write the parser' --agent dev --after {before} --instructions 'Read every line'"
    ));
    let ran = work(&tasks, &format!("--agent '{agent}' --as dev --once"));
    assert!(ran.stderr.contains(&format!("{id} is review: the agent ended its work")), "{ran:?}");
    assert!(ran.stderr.contains(&format!("next  accord task approve {id}")), "{ran:?}");
    let shown = tasks.json(&format!("show {id}"));
    assert_eq!(shown["task"]["run"]["result"]["notes"], "all of it");
    let folder = tasks.root().join(shown["task"]["folder"].as_str().expect("a folder"));
    let briefing = std::fs::read_to_string(folder.join("work/briefing.md")).expect("a briefing");
    for part in ["Write the parser", "Read every line", "report.json", &before, "summary.md"] {
        assert!(briefing.contains(part), "{part}: {briefing}");
    }
    let run = shown["task"]["run"]["run_id"].as_str().expect("a run");
    let log = std::fs::read_to_string(folder.join(format!("work/{run}.log"))).expect("a log");
    assert_eq!(log, format!("working on {id}\n"));
    // Nothing is left to do.
    let ran = tasks.ran(&format!("work --agent '{agent}' --as dev --once"));
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn checks_run_after_the_agent_and_are_recorded_with_its_sandbox() {
    for tasks in [Tasks::new(), Tasks::new().served()] {
        let id = tasks.create("One --ready --check 'sh -c \"echo seen; exit 3\"' --check true");
        let agent = tasks.agent("good.sh", GOOD);
        let ran = work(&tasks, &format!("--agent '{agent}' --as dev --once"));
        assert!(ran.stderr.contains("check sh -c 'echo seen; exit 3' (exit code 3)"), "{ran:?}");
        let shown = tasks.json(&format!("show {id}"));
        let checks = &shown["observed"]["checks"];
        assert_eq!((&checks[0]["exit_code"], &checks[0]["output"]), (&3.into(), &"seen\n".into()));
        assert_eq!(checks[1]["exit_code"], 0);
        let sandbox = shown["sandbox"].as_str().expect("a sandbox");
        let text = tasks.ran(&format!("show {id}")).stdout;
        assert!(text.contains("check failed: sh -c 'echo seen; exit 3' (exit code 3)"), "{text}");
        assert!(text.contains(sandbox), "{text}");
        // They are gone from the task when somebody takes them away, and the record stays.
        tasks.yes(&format!("edit {id} --clear checks"));
        let shown = tasks.json(&format!("show {id}"));
        assert_eq!(shown["task"]["metadata"].get("checks"), None);
        assert_eq!(shown["observed"]["checks"][0]["exit_code"], 3);
    }
}

#[test]
fn a_person_runs_the_checks_of_an_agent_that_accord_did_not_start() {
    for tasks in [Tasks::new(), Tasks::new().served()] {
        let check = "sh -c 'test -f made && echo found'";
        let id = tasks.create(&format!("One --ready --agent dev --check \"{check}\""));
        let early = tasks.ran(&format!("check {id}"));
        assert!(early.stderr.contains("no agent has ended its work"), "{early:?}");
        let claim = tasks.json(&format!("claim {id} --as dev"));
        let run = claim["run_id"].as_str().expect("a run");
        tasks.ran(&format!("check {id}")).refused("invalid_task_transition");
        let mut report = report(&id, "dev", "done");
        report["payload"]["runId"] = run.into();
        let sent = crate::accord::run(tasks.command("message"), report.to_string());
        assert_eq!(sent.code, 0, "{sent:?}");
        let shown = tasks.json(&format!("show {id}"));
        assert_eq!(shown["task"]["status"], "review", "{shown}");
        let finding = shown["findings"][0].as_str().expect("a finding");
        assert!(finding.contains("accord task check"), "{finding}");
        // An agent cannot say how its checks ended.
        let own = tasks.ran(&format!("check {id} --actor agent:dev"));
        assert!(own.stderr.contains("unauthorized_agent"), "{own:?}");
        let work = tasks.folder().join("elsewhere");
        std::fs::create_dir_all(&work).expect("a folder");
        let failed = tasks.json(&format!("check {id} --cwd {}", work.display()));
        assert_eq!(failed["observed"]["checks"][0]["exit_code"], 1, "{failed}");
        assert_ne!(failed["evidence"], shown["evidence"], "the decision is about other facts");
        std::fs::write(work.join("made"), "").expect("written");
        // The folder is known now.
        let passed = tasks.json(&format!("check {id}"));
        let check = &passed["observed"]["checks"][0];
        assert_eq!((&check["exit_code"], &check["output"]), (&0.into(), &"found\n".into()));
        assert_eq!(passed["sandbox"], "not known: Accord did not start the agent");
        assert_eq!(passed["findings"], serde_json::json!([]));
        assert_eq!(passed["task"]["status"], "review", "nothing moved");
    }
}

/// Git moves the files of a task that another clone sent back, and leaves their empty folders.
#[test]
fn empty_folders_of_an_earlier_review_do_not_hold_the_outputs_back() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    let agent = tasks.agent("good.sh", GOOD);
    work(&tasks, &format!("--agent '{agent}' --as dev --once"));
    tasks.yes(&format!("send-back {id} 'there are no tests' --yes"));
    let review = tasks.root().join(format!("tasks/review/{id}"));
    std::fs::create_dir_all(review.join("outputs/part")).expect("folders");
    work(&tasks, &format!("--agent '{agent}' --as dev --once"));
    assert_eq!(tasks.json(&format!("show {id}"))["task"]["status"], "review");
    let outputs = std::fs::read_dir(review.join("outputs")).expect("outputs");
    let names: Vec<_> = outputs.map(|entry| entry.expect("a name").file_name()).collect();
    assert!(!names.is_empty() && !names.contains(&"part".into()), "{names:?}");
    assert!(!tasks.root().join(format!("tasks/in-progress/{id}")).exists());
}

#[test]
fn the_briefing_says_why_a_review_sent_the_task_back() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    let agent = tasks.agent("good.sh", GOOD);
    work(&tasks, &format!("--agent '{agent}' --as dev --once"));
    tasks.yes(&format!("send-back {id} 'there are no tests' --yes"));
    work(&tasks, &format!("--agent '{agent}' --as dev --once"));
    let shown = tasks.json(&format!("show {id}"));
    let folder = tasks.root().join(shown["task"]["folder"].as_str().expect("a folder"));
    let briefing = std::fs::read_to_string(folder.join("work/briefing.md")).expect("a briefing");
    assert!(briefing.contains("there are no tests"), "{briefing}");
}

#[test]
fn the_briefing_has_the_memory_of_the_project_within_its_budget() {
    const HEADING: &str = "## The memory of the project";
    let tasks = Tasks::new().served();
    let deposit = |title: &str, decision: &str| {
        let args = ["context", "deposit", "--title", title, "--decision", decision];
        let mut command = bare(&args);
        command.env("ACCORD_DATA", tasks.data()).env("ACCORD_PROJECT", "shop");
        command.env("ACCORD_ACTOR", "agent:planner");
        assert_eq!(run(command, "").code, 0);
    };
    let agent = tasks.agent("good.sh", GOOD);
    // What the memory says in the briefing of a new task.
    let memory = |words: &str| {
        let id = tasks.create("Next --ready");
        work(&tasks, &format!("--agent '{agent}' --as dev --once {words}"));
        let path = tasks.root().join(format!("tasks/review/{id}/work/briefing.md"));
        let briefing = std::fs::read_to_string(path).expect("a briefing");
        let (_, memory) = briefing.split_once(HEADING)?;
        Some(memory.split_once("\n## ").map_or(memory, |(memory, _)| memory).to_owned())
    };
    deposit("Chose TOML", "settings are TOML files");
    let said = memory("").expect("a section");
    assert!(said.contains("Chose TOML") && said.contains("settings are TOML files"), "{said}");
    assert!(said.contains("information, not instructions"), "{said}");
    for number in 0..12 {
        deposit(&format!("Decision {number}"), &"a reason that takes its room ".repeat(8));
    }
    let (long, short) = (memory("").expect("a section"), memory("--memory-tokens 300"));
    let short = short.expect("a section");
    // A token has at least one byte, and seldom more than six.
    assert!(short.len() < 300 * 6 && short.len() < long.len(), "{short}\n\n{long}");
    assert_eq!(memory("--memory-tokens 0"), None);
}

#[test]
fn an_agent_without_a_report_is_reviewed_or_has_failed() {
    let tasks = Tasks::new();
    let quiet = tasks.create("Quiet --ready --no-review");
    let agent = tasks.agent("quiet.sh", "cat > /dev/null; echo 'I changed three files'");
    work(&tasks, &format!("--agent '{agent}' --as dev --once"));
    let shown = tasks.json(&format!("show {quiet}"));
    assert_eq!(shown["task"]["status"], "review", "it never said that it is done");
    let notes = shown["task"]["run"]["result"]["notes"].as_str().expect("notes");
    assert!(notes.contains("without a report") && notes.contains("three files"), "{notes}");

    let broken = tasks.create("Broken --ready");
    let agent = tasks.agent("broken.sh", "cat > /dev/null; echo 'no disk' >&2; exit 3");
    let ran = work(&tasks, &format!("--agent '{agent}' --as dev --once"));
    assert!(ran.stderr.contains("exit code 3"), "{ran:?}");
    let shown = tasks.json(&format!("show {broken}"));
    assert_eq!(shown["task"]["status"], "blocked");
    assert!(shown["task"]["block_reason"].as_str().expect("why").contains("no disk"), "{shown}");
}

#[test]
fn a_message_of_the_agent_itself_is_its_report() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready --no-review");
    // It sends the message with the command, as an agent with a shell does.
    let script = r#"cat > /dev/null
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
printf '{"protocol":"aof","version":1,"type":"completion.report","taskId":"%s","fromAgent":"%s",
"toAgent":"dispatcher","sentAt":"%s","runId":"%s","payload":{"outcome":"done","notes":"by hand",
"summaryRef":"outputs/summary.md","tests":{"total":0,"passed":0,"failed":0}}}' \
  "$ACCORD_TASK_ID" "$ACCORD_TASK_AGENT" "$now" "$ACCORD_TASK_RUN_ID" | "$ACCORD" task message
"$ACCORD" task approve "$ACCORD_TASK_ID" --yes 2> "$ACCORD_TASK_DIR.refused" || true
"#;
    let agent = tasks.agent("message.sh", script);
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("ACCORD", crate::accord::program());
    let ran = run(command, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    let shown = tasks.json(&format!("show {id}"));
    assert_eq!(shown["task"]["status"], "done");
    assert_eq!(shown["task"]["run"]["result"]["notes"], "by hand");
    let refused = tasks.root().join(format!("tasks/in-progress/{id}.refused"));
    let refused = std::fs::read_to_string(refused).expect("the refusal");
    assert!(refused.starts_with("not_for_workers"), "{refused}");
}

#[test]
fn ctrl_c_ends_the_agent_and_gives_the_task_back() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    let agent = tasks.agent("endless.sh", ENDLESS);
    let child = start(&tasks, &format!("--agent '{agent}' --as dev"));
    wait_until("the agent to begin", || began(&tasks, &id));
    signal(child.id(), "-INT");
    let output = output_of(child, "the worker");
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let shown = tasks.json(&format!("show {id}"));
    assert_eq!(shown["task"]["status"], "ready");
    assert_eq!(shown["task"]["lease"], Value::Null);
}

#[test]
fn a_task_that_a_person_cancels_ends_its_agent() {
    let tasks = Tasks::new();
    tasks.yes("init --heartbeat 3");
    let id = tasks.create("One --ready");
    let agent = tasks.agent("endless.sh", ENDLESS);
    let child = start(&tasks, &format!("--agent '{agent}' --as dev --once"));
    wait_until("the agent to begin", || began(&tasks, &id));
    tasks.yes(&format!("cancel {id}"));
    let output = output_of(child, "the worker");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("was moved to cancelled by somebody else"), "{said}");
    assert_eq!(tasks.status(&id), "cancelled");
}

#[test]
fn a_worker_goes_on_when_the_host_of_its_tasks_is_killed() {
    let tasks = Tasks::new();
    tasks.yes("init --heartbeat 3");
    let id = tasks.create("One --ready --no-review");
    let mut host = Server::start(&tasks.data(), &[]);
    let waits = r#"touch "$ACCORD_TASK_DIR/work/began"
until test -e "$ACCORD_TASK_DIR/work/go"; do kill -0 "$PPID" || exit 1; sleep 0.1; done
"#;
    let agent = tasks.agent("waits.sh", &format!("{waits}{GOOD}"));
    let child = start(&tasks, &format!("--agent '{agent}' --as dev --once"));
    wait_until("the agent to begin", || began(&tasks, &id));
    host.kill();
    let beats = || {
        let path = tasks.root().join(format!("runs/{id}/run_heartbeat.json"));
        std::fs::read_to_string(path).unwrap_or_default()
    };
    let before = beats();
    wait_until("a heartbeat without the host", || beats() != before);
    let go = tasks.root().join(format!("tasks/in-progress/{id}/work/go"));
    std::fs::write(go, "").expect("a file");
    let output = output_of(child, "the worker");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(tasks.status(&id), "done");
}

#[test]
fn a_program_that_does_not_exist_claims_nothing() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    tasks.ran("work --agent no-such-program --as dev").refused("agent_not_started");
    assert_eq!(tasks.status(&id), "ready");
    let said = tasks.ran("work --agent true --once").refused("USAGE");
    assert!(said.contains("--as NAME"), "{said}");
}

/// Thirty tasks in three layers. Two workers carry them; each is killed once in the middle of a
/// task and started again.
#[test]
fn two_agents_carry_thirty_tasks_although_they_are_killed() {
    const LAYERS: usize = 3;
    const WIDTH: usize = 10;
    let tasks = Tasks::new();
    tasks.yes("init --heartbeat 2");
    let mut layers: Vec<Vec<String>> = Vec::new();
    for layer in 0..LAYERS {
        let mut made = Vec::new();
        for at in 0..WIDTH {
            // Each task comes after two of the layer before.
            let after = layers.last().map_or(String::new(), |before| {
                format!("--after {} --after {}", before[at], before[(at + 1) % WIDTH])
            });
            let ready = if layer == 0 { "--ready" } else { "" };
            made.push(
                tasks
                    .create(&format!("'Task {layer}.{at}' --role dev --no-review {ready} {after}")),
            );
        }
        layers.push(made);
    }
    // Works on the first task until it is killed with its worker, on later ones at once.
    let stuck = r#"cat > /dev/null
if mkdir "$FIRST-$ACCORD_TASK_AGENT" 2>/dev/null; then
  echo "$ACCORD_TASK_ID" > "$FIRST-$ACCORD_TASK_AGENT/task"
  touch "$FIRST-$ACCORD_TASK_AGENT/began"
  for _ in $(seq 1000); do kill -0 "$PPID" 2>/dev/null || exit 1; sleep 0.1; done
fi
"#;
    let agent = tasks.agent("stuck.sh", &format!("{stuck}{GOOD}"));
    let first = tasks.folder().join("first");
    let begin = |name: &str| {
        let mut command =
            tasks.command(&format!("work --agent '{agent}' --as {name} --role dev --drain"));
        command.env("FIRST", &first);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("accord starts")
    };
    // The second worker may take the task of the first one, after its heartbeat is stale.
    let interrupted = ["one", "two"].map(|name| {
        let mut child = begin(name);
        let mark = tasks.folder().join(format!("first-{name}"));
        wait_until("an agent to begin", || mark.join("began").exists());
        child.kill().expect("it was running");
        exit_of(&mut child, "a worker");
        std::fs::read_to_string(mark.join("task")).expect("the id of a task").trim().to_owned()
    });
    let workers = ["one", "two"].map(begin);
    for worker in workers {
        let ran: Ran = output_of(worker, "a worker").into();
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let list = tasks.json("list --all --limit 100");
    let all = list["tasks"].as_array().expect("a list");
    let mut by_status: BTreeMap<&str, usize> = BTreeMap::new();
    for task in all {
        *by_status.entry(task["status"].as_str().expect("a status")).or_default() += 1;
    }
    assert_eq!(by_status, BTreeMap::from([("done", LAYERS * WIDTH)]), "{list}");
    tasks.yes("lint");
    // Each was done once, and those of the dead workers were taken back. On a busy machine a living
    // worker may be late with a heartbeat, too.
    let events = tasks.yes("watch --no-wait");
    assert_eq!(events.matches("review to done").count(), LAYERS * WIDTH);
    for id in &interrupted {
        let is_taken_back =
            |line: &str| line.contains(id) && line.contains("stale_heartbeat_reclaim");
        assert!(events.lines().any(is_taken_back), "{id} was not taken back: {events}");
    }
}

#[test]
fn a_worker_that_drains_leaves_what_is_for_others() {
    let tasks = Tasks::new();
    let agent = tasks.agent("good.sh", GOOD);
    let own = tasks.create("Own --ready --no-review");
    let other = tasks.create("'Of others' --ready --role dev");
    let held = tasks.create("Held --ready");
    tasks.yes(&format!("block {held} 'no keys'"));
    let waits = tasks.create(&format!("Waits --ready --after {held}"));
    let ran = work(&tasks, &format!("--agent '{agent}' --as m1 --role multi --drain"));
    assert_eq!(tasks.status(&own), "done");
    assert!(ran.stderr.contains(&format!("left {other} for dev: Of others")), "{ran:?}");
    assert!(!ran.stderr.contains("waits for a task"), "{ran:?}");
    assert_eq!((tasks.status(&other), tasks.status(&waits)), ("ready".into(), "backlog".into()));
}

/// Runs a worker to its end.
#[track_caller]
fn work(tasks: &Tasks, words: &str) -> Ran {
    let ran = tasks.ran(&format!("work {words}"));
    assert_eq!(ran.code, 0, "work {words}: {ran:?}");
    ran
}

fn start(tasks: &Tasks, words: &str) -> Child {
    let mut command = tasks.command(&format!("work {words}"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("accord starts")
}

fn began(tasks: &Tasks, id: &str) -> bool {
    tasks.root().join(format!("tasks/in-progress/{id}/work/began")).exists()
}

#[test]
fn what_an_agent_failed_on_is_shown_also_when_the_task_is_not_blocked_any_more() {
    let tasks = Tasks::new();
    let created = tasks.yes("create 'One of a role' --ready --role 'the dev'");
    assert!(created.contains("work --agent AGENT --as NAME --role 'the dev'"), "{created}");
    let created = tasks.yes("create 'One of an agent' --ready --agent dev");
    assert!(created.contains("work --agent AGENT --as dev\n"), "{created}");
    let id = tasks.create("One --ready --priority critical");
    let agent = tasks.agent("fails.sh", "echo 'no space left' >&2; exit 3");
    work(&tasks, &format!("--agent '{agent}' --as other --role any --once"));
    let error = "the agent ended with exit code 3 without a report: no space left";
    let shown = tasks.yes(&format!("show {id}"));
    assert!(shown.contains(error) && !shown.contains("last error"), "{shown}");
    tasks.yes(&format!("cancel {id}"));
    let shown = tasks.yes(&format!("show {id}"));
    let line = shown.lines().find(|line| line.contains("last error")).expect("a line");
    assert!(line.contains(error), "{shown}");
}
