//! Each command of `accord task`, as a person and as an agent use it.

use serde_json::{Value, json};

use crate::accord::{path_with_accord, run};
use crate::memory::bare;
use crate::task_place::Tasks;

#[test]
fn a_task_goes_from_the_backlog_to_done() {
    let tasks = Tasks::new();
    let id = tasks.create("'Write the parser' --instructions 'Read every line' --priority high");
    assert_eq!(tasks.status(&id), "backlog");
    let said = tasks.yes(&format!("promote {id}"));
    assert!(said.contains("backlog to ready"), "{said}");

    // By the beginning of its id.
    let claim = tasks.json(&format!("claim {} --as dev", &id[..id.len() - 1]));
    assert_eq!(claim["task"]["lease"]["agent"], "dev");
    let run_id = claim["run_id"].as_str().expect("a run").to_owned();
    let folder = claim["directory"].as_str().expect("a folder");
    assert!(std::path::Path::new(folder).join("outputs").is_dir(), "{folder}");

    let beat = tasks.json(&format!("heartbeat {id} --as dev --run {run_id}"));
    assert_eq!(beat["beat_count"], 1);
    tasks.ran(&format!("heartbeat {id} --as dev --run run_0")).refused("stale_run");
    tasks.ran(&format!("release {id} --as other")).refused("unauthorized_agent");

    let message = report(&id, "dev", "done");
    let mut command = tasks.command("message --json");
    command.env_remove("ACCORD_ACTOR");
    let ran = run(command, message.to_string());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(tasks.status(&id), "review");

    let shown = tasks.yes(&format!("show {id}"));
    assert!(shown.contains("reported done by dev"), "{shown}");
    assert!(shown.contains(&format!("next  accord task approve {id}")), "{shown}");
    assert!(shown.contains("Read every line"), "{shown}");

    tasks.ran(&format!("approve {id}")).refused("confirmation_needed");
    let mut agents = tasks.command(&format!("approve {id} --yes"));
    agents.env("ACCORD_ACTOR", "agent:dev");
    assert!(run(agents, "").refused("person_required").contains("--actor human:NAME"));
    let wrong = "0".repeat(64);
    tasks.ran(&format!("approve {id} --yes --expect {wrong}")).refused("evidence_changed");
    let evidence = tasks.json(&format!("show {id}"))["evidence"].clone();
    let evidence = &evidence.as_str().expect("a digest")[..32];
    tasks.yes(&format!("approve {id} --yes --expect {evidence} --note 'looks right'"));
    let shown = tasks.json(&format!("show {id}"));
    assert_eq!(shown["task"]["status"], "done");
    assert_eq!(shown["task"]["approval"]["by"], "human:lead");
    assert_eq!(shown["task"]["approval"]["door"], "cli");
    let late = tasks.ran(&format!("send-back {id} 'Not yet' --yes --expect {evidence}"));
    assert!(late.refused("decision_stale").contains("human:lead decided before you: approved"));
}

#[test]
fn the_key_of_a_person_acts_in_their_name() {
    let tasks = Tasks::new();
    let id = tasks.create("'Write the parser'");
    let key = |actor: Option<&str>| {
        let mut command = bare(&["key", "create", "--label", "k", "--verb", "admin", "--new"]);
        command.args(actor.into_iter().flat_map(|actor| ["--actor", actor]));
        command.env("ACCORD_DATA", tasks.data());
        let made = run(command, "");
        assert_eq!(made.code, 0, "{made:?}");
        made.stdout.trim().to_owned()
    };
    let keys = [key(Some("human:lead")), key(Some("agent:dev")), key(None)];
    let tasks = tasks.served();
    let with = |key: &str, words: &str, actor: Option<&str>| {
        let mut command = tasks.command(words);
        command.env_remove("ACCORD_DATA").env_remove("ACCORD_ACTOR");
        command.env("ACCORD_URL", &tasks.host().url).env("ACCORD_KEY", key);
        command.envs(actor.map(|actor| ("ACCORD_ACTOR", actor)));
        run(command, "")
    };
    let [person, agent, nobody] = &keys;
    with(person, &format!("promote {id}"), Some("human:other")).refused("unauthorized");
    for (words, event) in [
        (format!("promote {id}"), "task.transitioned"),
        (format!("edit {id} --priority high"), "task.updated"),
        (format!("close {id} --yes"), "task.transitioned"),
    ] {
        let ran = with(person, &words, None);
        assert_eq!(ran.code, 0, "{words}: {ran:?}");
        let log = with(person, "watch --no-wait", None).stdout;
        let last = log.lines().rfind(|line| line.contains(event)).expect(event);
        assert!(last.contains("human:lead"), "{words}: {log}");
    }
    // The key of an agent acts as the agent.
    let made = with(agent, "create 'Read the lines' --json", None);
    assert_eq!(made.code, 0, "{made:?}");
    let log = with(person, "watch --no-wait", None).stdout;
    let last = log.lines().rfind(|line| line.contains("task.created")).expect("a task");
    assert!(last.contains("  dev  "), "{log}");
    // A key without an actor does not make the user of the operating system an actor.
    let said = with(nobody, &format!("block {id} why"), None).refused("USAGE");
    assert!(said.contains("pass --actor or set ACCORD_ACTOR"), "{said}");
}

#[test]
fn a_claim_prints_what_the_agent_needs() {
    let tasks = Tasks::new();
    let first = tasks.create("'Choose the format' --ready --no-review");
    tasks.yes(&format!("claim {first} --as dev"));
    run(tasks.command("message"), report(&first, "dev", "done").to_string());
    let words = format!("'Write the parser' --after {first} --instructions 'Read every line'");
    let id = tasks.create(&words);
    let said = tasks.yes("claim --as dev");
    for part in [
        &format!("# {id}: Write the parser"),
        "Read every line",
        &format!("- {first} (done) Choose the format"),
        "Notes: n",
        "## Where to write",
        &format!("accord task heartbeat {id}"),
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    // Within a budget, and not in the document.
    tasks.yes(&format!("release {id} --as dev"));
    let short = tasks.yes(&format!("claim {id} --as dev --briefing-tokens 500"));
    let briefing = &short[short.find("# TASK-").expect("a briefing")..];
    assert!(accord_base::tokens(briefing) <= 500, "{short}");
    tasks.yes(&format!("release {id} --as dev"));
    let claim = tasks.json(&format!("claim {id} --as dev"));
    assert_eq!(claim["task"]["id"], id.as_str());
}

/// The commands of a briefing, in the order of the text.
fn commands(said: &str) -> Vec<String> {
    let parts = said.split("```sh\n").skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn an_agent_that_knows_only_its_briefing_can_finish() {
    let tasks = Tasks::new();
    let id = tasks.create("'Write the parser' --ready");
    let at_once = |agent: &str| {
        let mut claim = tasks.command(&format!("claim {id} --as {agent} --project shop"));
        claim.env_remove("ACCORD_PROJECT");
        commands(&run(claim, "").yes())
    };
    // As it stands, in a shell that knows nothing about the task.
    let shell = |script: &str| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", script]).env("PATH", path_with_accord()).current_dir(tasks.folder());
        shell.env("ACCORD_DATA", tasks.data()).env_remove("ACCORD_PROJECT");
        shell.env_remove("ACCORD_ACTOR").env_remove("ACCORD_TASK_AGENT");
        run(shell, "").yes()
    };
    let [_, heartbeat, release] = &at_once("dev")[..] else { panic!("three commands") };
    assert!(shell(heartbeat).contains("is alive until"));
    shell(release);
    assert_eq!(tasks.status(&id), "ready");
    let [report, ..] = &at_once("dev")[..] else { panic!("three commands") };
    assert!(shell(report).contains("completion.report"));
    assert_eq!(tasks.status(&id), "review");
    let shown = tasks.json(&format!("show {id}"));
    assert_eq!(shown["task"]["run"]["result"]["outcome"], "done", "{shown}");
}

#[test]
fn a_budget_of_the_memory_that_is_too_small_is_refused() {
    let tasks = Tasks::new();
    let id = tasks.create("'Write the parser' --ready");
    let said = tasks.ran(&format!("claim {id} --as dev --memory-tokens 299")).refused("USAGE");
    assert!(said.contains("must be 0, or from 300 to 1000000"), "{said}");
    assert_eq!(tasks.status(&id), "ready");
    tasks.yes(&format!("claim {id} --as dev --memory-tokens 0"));
}

#[test]
fn a_person_stops_starts_and_ends_tasks() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    tasks.yes(&format!("block {id} 'no keys'"));
    assert!(tasks.yes("list").contains("no keys"));
    tasks.yes(&format!("unblock {id} --reason 'keys are here'"));
    assert_eq!(tasks.status(&id), "ready");
    tasks.yes(&format!("edit {id} --title 'One again' --agent dev --tag api"));
    let shown = tasks.json(&format!("show {id}"));
    assert_eq!(shown["task"]["title"], "One again");
    assert_eq!(shown["task"]["agent"], "dev");
    tasks.yes(&format!("edit {id} --clear agent"));
    assert_eq!(tasks.json(&format!("show {id}"))["task"]["agent"], Value::Null);
    tasks.yes(&format!("cancel {id} --reason 'not needed'"));
    assert_eq!(tasks.status(&id), "cancelled");
    tasks.ran(&format!("edit {id} --title x")).refused("task_finished");

    let id = tasks.create("Two --ready");
    tasks.yes(&format!("close {id} --yes"));
    assert_eq!(tasks.status(&id), "done");
    tasks.ran(&format!("resurrect {id}")).refused("invalid_task_transition");
    tasks.ran("show TASK-1999-01-01-001").refused("task_not_found");
}

#[test]
fn a_review_sends_work_back_with_its_reason() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    tasks.yes(&format!("claim {id} --as dev"));
    let ran = run(tasks.command("message"), format!("AOF/1 {}", report(&id, "dev", "done")));
    assert!(ran.stdout.contains("in-progress to review"), "{ran:?}");
    tasks.yes(&format!("send-back {id} 'no tests' --yes"));
    let claim = tasks.json(&format!("claim {id} --as dev"));
    assert_eq!(claim["task"]["sent_back"]["note"], "no tests");
    assert_eq!(claim["task"]["sent_back"]["by"], "human:lead");
}

#[test]
fn tasks_wait_for_each_other_and_never_in_a_circle() {
    let tasks = Tasks::new();
    let first = tasks.create("First --ready");
    let second = tasks.create(&format!("Second --role dev --after {first}"));
    let third = tasks.create("Third");
    tasks.yes(&format!("dep add {third} {second}"));
    tasks.ran(&format!("dep add {first} {third}")).refused("dependency_cycle");
    tasks.ran("create Fourth --after TASK-1999-01-01-001").refused("dependency_not_found");
    tasks.ran(&format!("promote {second}")).refused("dependency_unmet");
    assert!(tasks.yes("list").contains(&format!("waits for {first}")));
    tasks.yes(&format!("close {first} --yes"));
    tasks.yes("poll");
    assert_eq!(tasks.status(&second), "ready");
    tasks.yes(&format!("dep remove {third} {second}"));
    let shown = tasks.json(&format!("show {third}"));
    assert_eq!(shown["task"]["depends_on"], json!([]));
}

#[test]
fn the_next_task_is_the_most_urgent_that_fits() {
    let tasks = Tasks::new();
    tasks.create("Other --ready --priority critical --agent other-bot");
    let low = tasks.create("Low --ready --priority low");
    let high = tasks.create("High --ready --priority high --role builder");
    let claim = tasks.json("claim --as dev --role builder");
    assert_eq!(claim["claimed"]["task"]["id"], high.as_str());
    let claim = tasks.json("claim --as dev");
    assert_eq!(claim["claimed"]["task"]["id"], low.as_str());
    let ran = tasks.ran("claim --as dev");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (1, "no ready task fits (1 ready)\n1 for agent other-bot: --as other-bot\n")
    );
}

#[test]
fn a_text_that_is_no_message_changes_nothing() {
    let tasks = Tasks::new();
    tasks.create("One --ready");
    let ran = tasks.ran("message 'all tests pass'");
    let said = "this is no message of AOF/1; nothing was changed\n";
    assert_eq!((ran.code, ran.stdout.as_str()), (1, said));
    tasks.ran("message 'AOF/1 {nope'").refused("invalid_json");
    // The refusal names the member.
    let ran = tasks.ran(r#"message '{"protocol":"aof"}'"#);
    assert!(ran.stderr.contains("/version: expected"), "{ran:?}");
    let message = report("TASK-1999-01-01-001", "dev", "done").to_string();
    run(tasks.command("message"), message).refused("task_not_found");
    // Refused messages are on record.
    let events = tasks.yes("watch --no-wait");
    assert_eq!(events.matches("protocol.message.rejected").count(), 3, "{events}");
}

#[test]
fn the_verbs_of_a_person_are_refused_in_a_worker() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    for words in [
        format!("approve {id} --yes"),
        format!("send-back {id} why --yes"),
        format!("close {id} --yes"),
        format!("adopt {id} --yes"),
        "adopt --settings --yes".to_owned(),
        format!("cancel {id} --actor human:lead"),
        format!("promote {id} --force --actor human:lead"),
        "init --review guide --actor human:lead".to_owned(),
        "create Easy --no-review --actor human:lead".to_owned(),
    ] {
        let mut command = tasks.command(&words);
        command.env("ACCORD_TASK_ID", &id).env("ACCORD_TASK_AGENT", "dev");
        run(command, "").refused("not_for_workers");
    }
    // As itself, an agent is no person.
    let mut command = tasks.command(&format!("cancel {id}"));
    command.env_remove("ACCORD_ACTOR").env("ACCORD_TASK_AGENT", "dev");
    run(command, "").refused("person_required");
    let mut command = tasks.command("create Easy --no-review");
    command.env_remove("ACCORD_ACTOR").env("ACCORD_TASK_AGENT", "dev");
    run(command, "").refused("person_required");
    assert_eq!(tasks.status(&id), "ready");
}

#[test]
fn a_person_takes_over_the_settings_of_a_file() {
    let tasks = Tasks::new();
    tasks.yes("init");
    let manifest = tasks.root().join("project.yaml");
    let says = |text: &str| std::fs::read_to_string(&manifest).expect("a manifest").contains(text);
    let text = std::fs::read_to_string(&manifest).expect("a manifest");
    std::fs::write(&manifest, text.replace("review: human", "review: guide")).expect("a file");
    tasks.yes("poll");
    assert!(says("review: human"), "the edit was not put back");
    assert_eq!(tasks.ran("adopt").code, 2, "neither a task nor the settings");
    tasks.ran("adopt --settings").refused("confirmation_needed");
    let wrong = "0".repeat(64);
    tasks.ran(&format!("adopt --settings --yes --expect {wrong}")).refused("evidence_changed");
    let said = tasks.yes("adopt --settings --yes --note 'a trial'");
    assert_eq!(said, "adopted review: \"human\" to \"guide\"\n");
    assert!(says("review: guide"));
    tasks.ran("adopt --settings --yes").refused("nothing_to_adopt");
    let events = tasks.yes("watch --no-wait");
    assert!(events.contains("task.adopted"), "{events}");
}

#[test]
fn a_person_takes_over_a_task_of_a_tree_without_its_log() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    tasks.yes("claim --as dev");
    // As in a clone of a repository that leaves it out.
    std::fs::remove_dir_all(tasks.root().join("state/accord")).expect("the log");
    tasks.ran(&format!("heartbeat {id} --as dev")).refused("task_needs_adopt");
    let said = tasks.yes(&format!("adopt {id} --yes"));
    assert_eq!(said, format!("{id} is adopted as it is\n"));
    tasks.yes(&format!("heartbeat {id} --as dev"));
}

#[test]
fn a_refused_first_task_leaves_no_data_folder() {
    let tasks = Tasks::new();
    let agent = "--actor agent:dev";
    tasks.ran(&format!("create Easy --no-review {agent}")).refused("person_required");
    tasks.ran("create Late --after TASK-1999-01-01-001").refused("dependency_not_found");
    tasks.ran(&format!("init --review guide {agent}")).refused("person_required");
    assert!(!tasks.data().exists(), "a refused command left {}", tasks.data().display());
    let ran = tasks.ran("init --json");
    assert!(ran.stderr.contains("new data folder"), "{ran:?}");
    let made: Value = serde_json::from_str(&ran.stdout).expect("a document");
    assert_eq!(made["result"]["created"], true, "{made}");
    assert_eq!(tasks.json("init")["created"], false);
}

#[test]
fn lint_says_what_is_wrong_with_exit_code_1() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    assert!(tasks.yes("lint").starts_with("clean: 1 task, "));
    let file = tasks.root().join(format!("tasks/ready/{id}.md"));
    std::fs::write(file, "no front matter").expect("a file");
    let ran = tasks.ran("lint");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains(&format!("tasks/ready/{id}.md: ")), "{ran:?}");
}

#[test]
fn an_approved_result_stays() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    tasks.yes(&format!("claim {id} --as dev"));
    let said = |outcome: &str| {
        let message = report(&id, "dev", outcome).to_string();
        run(tasks.command("message --json"), message)
    };
    assert_eq!(said("done").code, 0);
    tasks.yes(&format!("approve {id} --yes"));
    for outcome in ["blocked", "partial", "needs_review"] {
        let ran = said(outcome);
        assert_eq!(ran.code, 1, "{ran:?}");
        let shown = tasks.json(&format!("show {id}"));
        assert_eq!(shown["task"]["status"], "done", "{shown}");
        assert_eq!(shown["task"]["run"]["result"]["outcome"], "done", "{shown}");
    }
}

#[test]
fn lint_names_a_task_that_nobody_completed() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    tasks.yes(&format!("close {id} --yes"));
    assert!(tasks.yes("lint").starts_with("clean: 1 task, "));
    let done = tasks.root().join("tasks/done");
    let planted = "TASK-2026-01-01-001";
    let text = std::fs::read_to_string(done.join(format!("{id}.md"))).expect("the task");
    std::fs::write(done.join(format!("{planted}.md")), text.replace(&id, planted)).expect("a file");
    for folder in ["inputs", "work", "outputs", "subtasks"] {
        std::fs::create_dir_all(done.join(planted).join(folder)).expect("a folder");
    }
    let findings = || {
        let ran = tasks.ran("lint --json");
        let document: Value = serde_json::from_str(&ran.stdout).expect("a document");
        let findings = document["result"]["findings"].as_array().expect("findings").clone();
        findings.iter().map(|one| (one["code"].clone(), one["task_id"].clone())).collect::<Vec<_>>()
    };
    let named = |code: &str| (json!(code), json!(planted));
    assert_eq!(findings(), ["completion_not_recorded", "approval_not_recorded"].map(named));
    // A teammate who completed it pushes the events with the file.
    let line = json!({"eventId": 1, "type": "task.transitioned", "actor": "human:lead",
        "timestamp": "2026-01-01T10:00:00Z", "taskId": planted,
        "payload": {"from": "review", "to": "done"}});
    std::fs::write(tasks.root().join("events/2026-01-01.jsonl"), format!("{line}\n"))
        .expect("a log");
    assert_eq!(findings(), []);
}

/// A completion report of an agent.
pub(crate) fn report(id: &str, agent: &str, outcome: &str) -> Value {
    json!({
        "protocol": "aof", "version": 1, "type": "completion.report",
        "taskId": id, "fromAgent": agent, "toAgent": "dispatcher",
        "sentAt": "2999-01-01T00:00:00Z",
        "payload": {
            "outcome": outcome, "summaryRef": "outputs/summary.md", "notes": "n",
            "tests": {"total": 2, "passed": 2, "failed": 0},
        },
    })
}

#[test]
fn a_report_with_a_credential_is_accepted_with_a_warning() {
    let tasks = Tasks::new();
    let id = tasks.create("One --ready");
    tasks.yes(&format!("claim {id} --as dev"));
    let token = format!("ghp{}{}", "_", "uX9r2KpLq7TzBv4MwYc1Ns8Hd3Jf6GaEo5Ri");
    let mut message = report(&id, "dev", "done");
    message["payload"]["notes"] = format!("pushed with {token}").into();
    let ran = run(tasks.command("message --json"), message.to_string());
    let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(answer["result"]["applied"], true, "{ran:?}");
    let warnings = answer["result"]["warnings"].as_array().expect("warnings");
    let expected = json!("credential_found: payload.notes contains a token of GitHub; revoke it");
    assert!(warnings.contains(&expected), "{ran:?}");
}
