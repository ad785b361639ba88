//! How an agent reports, with its own task, name and run in every line.

use serde_json::json;

use super::{Audience, Briefing};

const OUTCOMES: &str =
    "The outcome is done, needs_review, partial or blocked (then with \"blockers\": [\"...\"]).";

/// What no agent decides.
const REVIEWS: &str = "A person decides about reviews: do not approve, close or cancel tasks.";

impl Briefing<'_> {
    pub(super) fn how_to_report(&self, audience: Audience<'_>) -> String {
        let text = match audience {
            Audience::Tools => self.with_tools(),
            Audience::Command(place) => self.with_commands(place),
            Audience::Http => self.with_requests(),
            Audience::Worker => self.with_a_file(),
        };
        format!("## How to report\n\n{text}\n")
    }

    fn with_tools(&self) -> String {
        let id = self.id;
        format!(
            "While you work: aof_heartbeat, and aof_task_update with workLog. When done: \
             aof_task_complete with taskId {id} and a summary. If you cannot go on: \
             aof_task_block with a reason. To give it back: aof_release."
        )
    }

    fn with_commands(&self, place: &str) -> String {
        let id = self.id;
        let run = self.lease.as_ref().and_then(|lease| lease.run_id);
        let agent = self.lease.as_ref().map(|lease| format!(" --as {}", shell_word(lease.agent)));
        let run = run.map(|run| format!(" --run {}", shell_word(run)));
        let who = format!("{}{}{place}", agent.unwrap_or_default(), run.unwrap_or_default());
        let report = self.report(None);
        format!(
            "When you are done or cannot go on, report once, with notes of your own:\n\n```sh\n\
             accord task message --now{place} <<'END'\n{report}\nEND\n```\n\n{OUTCOMES} While you \
             work, before the time above:\n\n```sh\naccord task heartbeat {id}{who}\n```\n\nTo \
             give the task back:\n\n```sh\naccord task release {id}{who}\n```\n\n{REVIEWS}"
        )
    }

    fn with_requests(&self) -> String {
        let (id, project) = (self.id, self.project);
        let run = match &self.lease {
            Some(lease) => json!({"agent": lease.agent, "run_id": lease.run_id}),
            None => json!({}),
        };
        let report = self.report(Some("the time now, as 2026-01-31T12:00:00Z"));
        format!(
            "With POST, below /accord/v1/projects/{project}. When you are done or cannot go on, \
             once, to aof/messages:\n\n{report}\n\n{OUTCOMES} While you work, to \
             tasks/{id}/heartbeat, or to give the task back, to tasks/{id}/release:\n\n{run}"
        )
    }

    fn with_a_file(&self) -> String {
        let directory = self.directory;
        format!(
            "Report once, when you are done or cannot go on, with one of:\n- the MCP tool \
             aof_task_complete, if you have the tools of Accord;\n- the file \
             {directory}/outputs/report.json: {{\"outcome\": \"done\", \"notes\": \
             \"...\"}}. {OUTCOMES}\n\n{REVIEWS}"
        )
    }

    /// The message that ends the work.
    fn report(&self, sent_at: Option<&str>) -> String {
        let mut message = json!({
            "protocol": "aof",
            "version": 1,
            "type": "completion.report",
            "taskId": self.id.to_string(),
            "toAgent": "dispatcher",
            "payload": {
                "outcome": "done",
                "summaryRef": "outputs/summary.md",
                "deliverables": [],
                "tests": {"total": 0, "passed": 0, "failed": 0},
                "notes": "...",
            },
        });
        if let Some(lease) = &self.lease {
            message["fromAgent"] = lease.agent.into();
            if let Some(run) = lease.run_id {
                message["runId"] = run.into();
            }
        }
        if let Some(sent_at) = sent_at {
            message["sentAt"] = sent_at.into();
        }
        message.to_string()
    }
}

/// A word as a shell reads it.
fn shell_word(word: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./:@%+=,".contains(sign);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
