//! What the scripted model does in a turn. It knows only what a model would: the prompt, and the
//! answers of its tools.

use serde_json::{Value, json};

use crate::accord::program;

/// One thing that the model asks its client to do.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Runs a command.
    Shell(String),
    /// Writes a file of the repository.
    Write { path: String, text: String },
    /// Calls a tool of Accord's MCP server.
    Memory { tool: &'static str, arguments: Value },
    /// Ends the turn with a message.
    End,
}

/// What a prompt asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Task {
    /// A turn of a governed run.
    Turn(Turn),
    /// A task of AOF/1.
    Task(Briefed),
}

impl Task {
    /// Reads a prompt; `None` for a request that is about something else, such as a title.
    pub(crate) fn read(prompt: &str) -> Option<Self> {
        Turn::read(prompt).map(Self::Turn).or_else(|| Briefed::read(prompt).map(Self::Task))
    }

    /// The next action after so many.
    pub(crate) fn action(&self, done: usize) -> Action {
        match self {
            Self::Turn(turn) => turn.action(done),
            Self::Task(task) => task.action(done),
        }
    }
}

/// What the briefing of a task says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Briefed {
    id: String,
    report: String,
}

impl Briefed {
    fn read(prompt: &str) -> Option<Self> {
        let report = between(prompt, "- the file ", ": {")?;
        Some(Self { id: between(prompt, "You have the task TASK-", " of")?, report })
    }

    fn action(&self, done: usize) -> Action {
        let report = json!({"outcome": "done", "notes": "A client did it",
            "summaryRef": "outputs/summary.md", "tests": {"total": 1, "passed": 1, "failed": 0}});
        let folder = self.report.trim_end_matches("/outputs/report.json");
        let actions = [
            // A worker that wants to decide for the person.
            Action::Shell(format!("{} task close TASK-{} --yes", program(), self.id)),
            Action::Memory {
                tool: "memory_deposit",
                arguments: json!({"title": format!("Left by TASK-{}", self.id)}),
            },
            Action::Write {
                path: format!("{folder}/outputs/summary.md"),
                text: "It is done.\n".to_owned(),
            },
            Action::Write { path: self.report.clone(), text: report.to_string() },
        ];
        actions.get(done).cloned().unwrap_or(Action::End)
    }
}

/// What a prompt says about a turn.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Turn {
    staging: String,
    run_id: String,
    turn_id: String,
    role: String,
    runtime_id: String,
    next_decision: String,
    next_phase: Option<String>,
}

impl Turn {
    fn read(prompt: &str) -> Option<Self> {
        let quoted = |name: &str| between(prompt, &format!("`{name}` \""), "\"");
        Some(Self {
            staging: between(prompt, "Write one JSON object to `", "`")?,
            run_id: quoted("run_id")?,
            turn_id: quoted("turn_id")?,
            role: quoted("role")?,
            runtime_id: quoted("runtime_id")?,
            next_decision: between(prompt, "the next free one is ", ".")?,
            next_phase: between(prompt, "`phase_transition_request`: \"", "\""),
        })
    }

    fn action(&self, done: usize) -> Action {
        let mut actions = vec![Action::Memory { tool: "memory_orient", arguments: json!({}) }];
        let (first, rest) = self.files().split_first().expect("a role writes files");
        actions.push(Action::Write { path: first.0.to_owned(), text: first.1.to_owned() });
        let written = rest.iter().map(|(path, text)| {
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            format!("mkdir -p {folder} && printf '%s' '{text}' > {path}")
        });
        actions.extend(written.map(Action::Shell));
        // A worker that wants to decide for the person. A login shell may have another `PATH`.
        actions.push(Action::Shell(format!("{} run approve-completion", program())));
        actions.push(Action::Memory {
            tool: "memory_deposit",
            arguments: json!({"title": title(&self.role), "decisions_made": ["Keep it small"]}),
        });
        actions.push(Action::Write { path: self.staging.clone(), text: self.result().to_string() });
        actions.get(done).cloned().unwrap_or(Action::End)
    }

    fn files(&self) -> &'static [(&'static str, &'static str)] {
        match self.role.as_str() {
            "pm" => &[
                (
                    ".planning/ROADMAP.md",
                    "| Req # | What | Shown by |\n|---|---|---|\n\
                     | 1 | A greeting | sh src/greet.sh |\n",
                ),
                (
                    ".planning/SYSTEM_SPEC.md",
                    "## Purpose\n\nTo greet.\n\n## Interface\n\nsh src/greet.sh\n\n\
                     ## Acceptance Tests\n\n- sh src/greet.sh\n",
                ),
                (".planning/PM_SIGNOFF.md", "Approved: YES\n"),
            ],
            "dev" => &[
                ("src/greet.sh", "echo hello\n"),
                (
                    ".planning/IMPLEMENTATION_NOTES.md",
                    "## Changes\n\nA greeting.\n\n## Verification\n\nsh src/greet.sh prints it.\n",
                ),
            ],
            _ => &[
                (
                    ".planning/acceptance-matrix.md",
                    "| Req # | What | Checked by | Status |\n|---|---|---|---|\n\
                     | 1 | A greeting | sh src/greet.sh | PASS |\n",
                ),
                (".planning/ship-verdict.md", "## Verdict: YES\n"),
                (
                    ".planning/RELEASE_NOTES.md",
                    "## User Impact\n\nPeople are greeted.\n\n\
                     ## Verification Summary\n\nThe check passes.\n",
                ),
            ],
        }
    }

    fn next_role(&self) -> &'static str {
        match self.role.as_str() {
            "pm" => "dev",
            "dev" => "qa",
            _ => "human",
        }
    }

    fn result(&self) -> Value {
        let files: Vec<&str> = self.files().iter().map(|(path, _)| *path).collect();
        let mut result = json!({
            "schema_version": "1.0", "run_id": self.run_id, "turn_id": self.turn_id,
            "role": self.role, "runtime_id": self.runtime_id, "status": "completed",
            "summary": format!("The part of {} is done", self.role),
            "decisions": [{"id": self.next_decision, "category": "scope",
                "statement": "Keep it small", "rationale": "Less to maintain"}],
            "objections": [{"id": "OBJ-001", "severity": "low",
                "statement": "Only one greeting is tested"}],
            "files_changed": files,
            "verification": {"status": "pass", "commands": ["true"], "evidence_summary": "It ran",
                "machine_evidence": [{"command": "true", "exit_code": 0}]},
            "artifact": {"type": "workspace"},
            "proposed_next_role": self.next_role(),
        });
        match &self.next_phase {
            Some(phase) => result["phase_transition_request"] = json!(phase),
            None => result["run_completion_request"] = json!(true),
        }
        result
    }
}

/// The title of what a turn deposits.
pub(crate) fn title(role: &str) -> String {
    format!("The turn of {role}")
}

fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found.to_owned())
}

/// The values of a list; nothing for another value.
pub(crate) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
