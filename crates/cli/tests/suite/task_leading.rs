//! What the lead of a team types, and reads.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::accord::{Ran, run};
use crate::task_place::Tasks;
use crate::wait::{output_of, wait_until};

/// An agent that works until it is ended.
const SLOW: &str = "cat > /dev/null
touch \"$ACCORD_TASK_DIR/work/began\"
for _ in $(seq 4800); do sleep 0.05; done\n";

fn in_background(mut command: Command) -> std::process::Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("accord starts")
}

#[test]
fn a_cancelled_task_ends_its_agent_long_before_a_heartbeat_would() {
    for is_served in [false, true] {
        let tasks = Tasks::new();
        // A third of a week is the time between two heartbeats.
        tasks.yes("init --heartbeat 604800");
        let id = tasks.create("Wait --ready");
        let tasks = if is_served { tasks.served() } else { tasks };
        let agent = tasks.agent("slow.sh", SLOW);
        let words = format!("work --agent '{agent}' --as dev --once");
        let worker = in_background(tasks.command(&words));
        let began = tasks.root().join(format!("tasks/in-progress/{id}/work/began"));
        wait_until("the agent to begin", || began.exists());
        tasks.yes(&format!("cancel {id} --reason 'not needed'"));
        let ran: Ran = output_of(worker, "the worker").into();
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stderr.contains("was moved to cancelled by somebody else"), "{ran:?}");
        assert_eq!(tasks.status(&id), "cancelled");
    }
}

#[test]
fn a_worker_that_finds_nothing_says_what_would_fit() {
    let tasks = Tasks::new();
    let agent = tasks.agent("agent.sh", "exit 0\n");
    let work = format!("work --agent '{agent}' --as me --once");
    let first = tasks.create("First");
    let none = tasks.ran(&work);
    assert_eq!(none.code, 1, "{none:?}");
    assert!(none.stderr.contains("no task is ready (0 ready)\nopen: 1 backlog\n"), "{none:?}");
    tasks.create("Second --role dev --ready");
    tasks.create(&format!("Third --role dev --after {first}"));
    let none = tasks.ran(&work);
    assert!(none.stderr.contains("\n1 for role dev: --role dev\n"), "{none:?}");
    let claim = tasks.ran("claim --as me");
    assert!(claim.stdout.contains("1 for role dev: --role dev"), "{claim:?}");
}

#[test]
fn a_report_that_is_recorded_or_sent_again_is_no_failure() {
    for apply in ["at-once", "session-end"] {
        let tasks = Tasks::new();
        tasks.yes(&format!("init --apply {apply}"));
        let id = tasks.create("First --ready");
        tasks.yes(&format!("claim {id} --as dev"));
        let report = json!({
            "protocol": "aof", "version": 1, "type": "completion.report", "taskId": id,
            "fromAgent": "dev", "toAgent": "dispatcher",
            "payload": {
                "outcome": "done", "summaryRef": "outputs/summary.md", "notes": "n",
                "tests": {"total": 1, "passed": 1, "failed": 0},
            },
        });
        for _ in 0..2 {
            let ran = run(tasks.command("message --now"), report.to_string());
            assert_eq!(ran.code, 0, "{apply}: {ran:?}");
        }
        // A move that is not made is one.
        let mut update = report.clone();
        update["type"] = "status.update".into();
        update["payload"] = json!({"taskId": id, "agentId": "dev", "status": "done"});
        let ran = run(tasks.command("message --now"), update.to_string());
        assert_eq!(ran.code, 1, "{apply}: {ran:?}");
    }
}

#[test]
fn a_person_takes_a_task_from_its_agent() {
    let tasks = Tasks::new();
    let id = tasks.create("First --ready");
    tasks.yes(&format!("claim {id} --as dev"));
    let said = tasks.yes(&format!("release {id} --reason 'wrong agent'"));
    assert!(said.contains("in-progress to ready (wrong agent)"), "{said}");
    assert_eq!(tasks.status(&id), "ready");
}

#[test]
fn a_claim_by_id_waits_unless_a_person_forces_it() {
    let tasks = Tasks::new();
    let first = tasks.create("First --ready");
    let second = tasks.create("Second --ready");
    let said = tasks.yes(&format!("dep add {second} {first}"));
    assert!(said.contains(&format!("{second} now waits for {first} (ready)")), "{said}");
    let again = tasks.yes(&format!("dep add {second} {first}"));
    assert!(again.contains("unchanged: it waits for"), "{again}");
    tasks.ran(&format!("claim {second} --as dev")).refused("dependency_unmet");
    let mut by_agent = tasks.command(&format!("claim {second} --as dev --force"));
    by_agent.env("ACCORD_ACTOR", "agent:dev");
    run(by_agent, "").refused("person_required");
    tasks.yes(&format!("claim {second} --as dev --force"));
    assert_eq!(tasks.status(&second), "in-progress");
    tasks.yes(&format!("release {second} --as dev"));
    let said = tasks.yes(&format!("dep remove {second} {first}"));
    assert!(said.contains("now waits for nothing (ready)"), "{said}");
}

#[test]
fn several_tasks_are_approved_each_by_its_own_evidence() {
    let tasks = Tasks::new();
    let agent = tasks.agent("agent.sh", "cat > /dev/null\n");
    let ids: Vec<String> = ["One", "Two"].map(|it| tasks.create(&format!("{it} --ready"))).into();
    for _ in &ids {
        tasks.yes(&format!("work --agent '{agent}' --as dev --once"));
    }
    let open = tasks.create("Three --ready");
    let ran = tasks.ran(&format!("approve {} {open} {} --yes", ids[0], ids[1]));
    assert_eq!(ran.code, 1, "{ran:?}");
    for id in &ids {
        assert!(ran.stdout.contains(&format!("{id} review to done")), "{ran:?}");
        assert_eq!(tasks.status(id), "done");
    }
    assert!(ran.stderr.contains(&format!("{open} was not approved: ")), "{ran:?}");
    let sum = format!("2 of 3 approved; not approved: {open}");
    assert!(ran.stderr.contains(&sum), "{ran:?}");
    let digest = "0".repeat(64);
    let words = format!("approve {} {} --yes --expect {digest}", ids[0], ids[1]);
    tasks.ran(&words).refused("USAGE");

    let list = tasks.yes("list --all --status done");
    assert_eq!(list.matches("by dev").count(), 2, "{list}");
    tasks.yes(&format!("comment {} 'It fails on Mondays'", ids[0]));
    let said = tasks.yes(&format!("reopen {} 'See the comment' --yes", ids[0]));
    assert!(said.contains("done to ready (See the comment)"), "{said}");
    let shown = tasks.yes(&format!("show {}", ids[0]));
    assert!(shown.contains("human:lead, ") && shown.contains("| It fails on Mondays"), "{shown}");
}

#[test]
fn a_plan_becomes_tasks_once() {
    let tasks = Tasks::new();
    tasks.yes("init");
    let plan = tasks.folder().join("plan.md");
    let text = "- [ ] Choose the format\n  key: format\n  due: 2020-01-31\n\
                - [ ] Write the reader\n  after: format\n  role: dev\n- [x] Ask the users\n";
    std::fs::write(&plan, text).expect("a file");
    let words = format!("create --from {} --ready", plan.display());
    let trial = tasks.yes(&format!("{words} --dry-run"));
    assert!(trial.contains("would create Write the reader (backlog, after format)"), "{trial}");
    assert_eq!(tasks.json("list")["total"], 0);
    let made = tasks.yes(&words);
    assert!(made.contains("2 created, 0 existed"), "{made}");
    let again = tasks.yes(&words);
    assert!(again.contains("0 created, 2 existed"), "{again}");
    let list: Value = tasks.json("list --text 'format choose'");
    assert_eq!(list["total"], 1);
    assert_eq!(list["tasks"][0]["overdue"], true);
    let id = list["tasks"][0]["id"].as_str().expect("an id").to_owned();
    for words in ["list", "board", "poll"] {
        let said = tasks.yes(words);
        assert!(said.contains("overdue"), "{words}: {said}");
    }
    let said = tasks.yes(&format!("edit {id} --clear due"));
    assert!(said.contains("changed: metadata.due"), "{said}");
    std::fs::write(&plan, "## A\nprio: high\n").expect("a file");
    let wrong = tasks.ran(&words);
    assert!(wrong.code != 0 && wrong.stderr.contains("line 2: prio is no property"), "{wrong:?}");
}

#[test]
fn a_failed_attempt_says_when_it_is_tried_again() {
    let tasks = Tasks::new();
    let agent = tasks.agent("agent.sh", "exit 3\n");
    let id = tasks.create("First --ready");
    let ran = tasks.ran(&format!("work --agent '{agent}' --as dev --once"));
    assert!(ran.stderr.contains("it is tried again at "), "{ran:?}");
    assert!(tasks.yes(&format!("show {id}")).contains("it is tried again at "));
    assert!(tasks.yes("list").contains("tried again at "));
    let said = tasks.yes(&format!("unblock {id}"));
    assert!(said.contains("blocked to ready"), "{said}");
    let said = tasks.yes(&format!("block {id} 'no licence'"));
    assert!(said.contains("it needs a person"), "{said}");
    assert!(tasks.yes("list").contains("needs a person: no licence"));
}
