//! What `accord task` prints for people.

use serde_json::json;

use crate::accord::run;
use crate::snapshot::Transcript;
use crate::task_place::Tasks;

/// Commands on the tasks of one project.
struct Story {
    tasks: Tasks,
    transcript: Transcript,
    columns: Option<&'static str>,
}

impl Story {
    fn new() -> Self {
        Self { tasks: Tasks::new(), transcript: Transcript::default(), columns: None }
    }

    /// Types a command and keeps what it prints.
    fn types(&mut self, words: &str) -> String {
        self.types_with(words, "")
    }

    fn types_with(&mut self, words: &str, input: &str) -> String {
        let mut command = self.tasks.command(words);
        command.envs(self.columns.map(|columns| ("COLUMNS", columns)));
        let ran = run(command, input);
        self.transcript.add(&format!("task {words}"), &ran);
        ran.stdout
    }

    /// Creates a task, and returns its id.
    fn creates(&mut self, words: &str) -> String {
        self.types(&format!("create {words} --id-only")).trim().to_owned()
    }

    /// Sends a message of an agent about a task.
    fn sends(&mut self, kind: &str, id: &str, payload: serde_json::Value) {
        let message = json!({
            "protocol": "aof", "version": 1, "type": kind, "taskId": id,
            "fromAgent": "dev", "toAgent": "dispatcher", "sentAt": "2999-01-01T00:00:00Z",
            "payload": payload,
        });
        self.types_with("message", &message.to_string());
    }

    fn check(self, name: &str) {
        let filters = [
            (r"TASK-\d{4}-\d\d-\d\d", "TASK-[day]"),
            (r"\b[0-9a-f]{64}\b", "[digest]"),
            (r"\(\d+ bytes\)", "([many] bytes)"),
            (r"(?m)^(\d+)  \d\d:\d\d:\d\d  ", "$1  [time]  "),
        ];
        self.transcript.check_with(name, &filters);
    }
}

fn report(outcome: &str) -> serde_json::Value {
    json!({
        "outcome": outcome, "summaryRef": "outputs/summary.md", "notes": "It parses.",
        "tests": {"total": 3, "passed": 2, "failed": 1},
        "deliverables": ["src/parser.rs"],
    })
}

#[test]
fn a_task_from_its_beginning_to_its_end() {
    let mut story = Story::new();
    story.types("list");
    story.types("init --title 'The shop'");
    story.types("list");
    story.types("board");
    story.types("create 'Write the parser' --instructions 'Read every line' --priority high");
    let id = story.tasks.json("list")["tasks"][0]["id"].as_str().expect("an id").to_owned();
    story.types(&format!("show {id}"));
    story.types(&format!("promote {id}"));
    story.types(&format!("promote {id}"));
    story.types(&format!("claim {id} --as dev"));
    story.types(&format!("claim {id} --as other"));
    story.types(&format!("heartbeat {id} --as dev"));
    story.types(&format!("release {id} --as other"));
    story.types("list");
    let update = json!({"taskId": id, "agentId": "dev", "progress": "half of it"});
    story.sends("status.update", &id, update);
    let outputs = story.tasks.root().join(format!("tasks/in-progress/{id}/outputs"));
    std::fs::write(outputs.join("summary.md"), "It parses every line.\n").expect("a file");
    story.sends("completion.report", &id, report("done"));
    story.types(&format!("show {id}"));
    let asks = json!({"taskId": id, "agentId": "dev", "status": "done"});
    story.sends("status.update", &id, asks);
    story.types(&format!("approve {id}"));
    story.types(&format!("send-back {id} 'one test fails' --yes"));
    story.types(&format!("claim {id} --as dev"));
    story.sends("completion.report", &id, report("done"));
    story.types(&format!("approve {id} --yes --note 'good enough'"));
    story.types(&format!("show {id} --no-body"));
    story.types(&format!("edit {id} --title x"));
    story.types("list");
    story.types("list --all");
    story.types("lint");
    story.types("watch --no-wait");
    story.check("task-life");
}

#[test]
fn tasks_that_wait_for_each_other() {
    let mut story = Story::new();
    let first = story.creates("'Choose the format' --ready --agent dev");
    let second = story.creates(&format!("'Write the reader' --role dev --after {first}"));
    let third = story.creates(&format!("'Write the manual' --team docs --parent {second} --tag a"));
    story.types(&format!("dep add {third} {second}"));
    story.types(&format!("dep add {first} {third}"));
    story.types("create Odd --after TASK-1999-01-01-001");
    story.types(&format!("promote {second}"));
    story.types("list");
    story.types("list --team docs");
    story.types("list --text elephants");
    story.types("board");
    story.types(&format!("block {first} 'no keys'"));
    story.types(&format!("show {first}"));
    story.types(&format!("unblock {first} --reason 'keys are here'"));
    story.types("poll");
    story.types(&format!("cancel {first} --reason 'not needed'"));
    story.types("poll");
    story.types("poll");
    story.types(&format!("dep remove {second} {first}"));
    story.types("poll");
    story.types("claim --as dev --role dev");
    story.types("claim --as dev --role dev");
    story.types("session-end");
    story.types(&format!("close {second} --yes"));
    story.types(&format!("resurrect {second}"));
    story.types("board --all");
    story.check("task-graph");
}

#[test]
fn what_goes_wrong_with_tasks() {
    let mut story = Story::new();
    story.types("show TASK-1999-01-01-001");
    let id = story.creates("'Write the parser' --ready");
    story.types("show TASK-1999-01-01-001");
    story.types("message 'all tests pass'");
    story.types("message 'AOF/1 {nope'");
    story.types_with("message", r#"{"protocol": "aof", "version": 1, "type": "task.sing"}"#);
    story.sends("completion.report", &id, report("done"));
    story.sends("completion.report", "TASK-1999-01-01-001", report("done"));
    story.types("work --agent no-such-program --as dev");
    story.types("work --agent true --once");
    story.types(&format!("claim {id} --as dev"));
    // What decides about an agent's work is put back.
    let path = story.tasks.root().join(format!("tasks/in-progress/{id}.md"));
    let text = std::fs::read_to_string(&path).expect("the file");
    std::fs::write(&path, text.replace("status: in-progress", "status: done")).expect("a file");
    story.types("list");
    story.types(&format!("adopt {id}"));
    std::fs::write(
        story.tasks.root().join("tasks/ready/TASK-2026-01-01-001.md"),
        "no front matter",
    )
    .expect("a file");
    story.types("list");
    story.types("lint");
    story.types("show TASK-2026-01-01-001");
    story.check("task-trouble");
}

#[test]
fn a_narrow_terminal() {
    let mut story = Story::new();
    story.columns = Some("60");
    let first = story.creates(
        "'Write the parser of the format that the other team uses for its archives' --ready \
         --priority critical --agent the-agent-with-a-long-name --tag parser --tag archive",
    );
    story.creates(&format!("'Write the manual' --after {first} --team documentation"));
    story.types("list");
    story.types("board");
    story.types(&format!("show {first}"));
    story.types("watch --no-wait");
    // Events are lines for a log, and are not wrapped.
    for words in ["list", "board", "lint"] {
        let mut command = story.tasks.command(words);
        command.env("COLUMNS", "60");
        let printed = run(command, "").stdout;
        let longest = printed.lines().map(|line| line.chars().count()).max();
        assert!(longest.is_some_and(|longest| longest <= 60), "{words} {longest:?}\n{printed}");
    }
    story.check("task-narrow");
}
