//! The nine examples of the guide, as written there, when a report moves its task at once and when
//! it waits for the end of the session.

use accord_contract::Value;
use accord_tasks_core::Status;
use accord_tasks_core::operations::{
    ApplyMode, ClaimRequest, InitRequest, ReviewMode, SessionEndRequest,
};
use serde_json::json;

use crate::support::{Case, agent, human, id, ready};

/// The trees of the examples: the tasks 057 to 062 of the day, made at 20:55.
fn cases() -> [Case; 2] {
    [ApplyMode::AtOnce, ApplyMode::SessionEnd].map(|apply| {
        let request = InitRequest {
            apply: Some(apply),
            review: Some(ReviewMode::Guide),
            ..InitRequest::default()
        };
        let mut case = Case::with(&request);
        case.clock.add(-300);
        // Another tool made the task before them.
        let now = case.clock.now();
        let text = format!(
            "---\nschemaVersion: 1\nid: {}\nproject: shop\ntitle: x\nstatus: backlog\n\
             createdAt: {now}\nupdatedAt: {now}\nlastTransitionAt: {now}\ncreatedBy: main\n---\n",
            task(56)
        );
        let path = case.folder.path().join(format!("tasks/backlog/{}.md", task(56)));
        std::fs::write(path, text).unwrap();
        for folder in ["inputs", "work", "outputs", "subtasks"] {
            let folder = format!("tasks/backlog/{}/{folder}", task(56));
            std::fs::create_dir_all(case.folder.path().join(folder)).unwrap();
        }
        case.tree = case.reopened();
        for number in 57..=62 {
            let mut new = ready("x");
            new.agent = match number {
                57 | 58 => Some("swe-backend".into()),
                59..=62 => Some("swe-qa".into()),
                _ => None,
            };
            let made = id(&case.tree.create(&new, &human()).unwrap());
            assert_eq!(made.to_string(), task(number));
        }
        case
    })
}

fn task(number: u32) -> String {
    format!("TASK-2026-02-09-{number:03}")
}

impl Case {
    fn claim_as(&self, number: u32, name: &str) {
        self.tree.claim(&task(number), &ClaimRequest::default(), &agent(name)).unwrap();
    }

    /// The message arrives when it is sent.
    fn at(&self, time: &str) {
        let now = self.clock.now();
        let sent = accord_contract::time::Time::parse_rfc3339(time).unwrap();
        self.clock.add(sent.unix_seconds() - now.unix_seconds());
    }

    fn example(
        &self,
        kind: &str,
        number: u32,
        sender: &str,
        to: &str,
        sent_at: &str,
        payload: Value,
    ) -> accord_tasks_core::operations::MessageAnswer {
        self.at(sent_at);
        let message = json!({
            "protocol": "aof",
            "version": 1,
            "type": kind,
            "taskId": task(number),
            "fromAgent": sender,
            "toAgent": to,
            "sentAt": sent_at,
            "payload": payload,
        });
        self.tree.message(&message, &agent(sender)).unwrap()
    }

    fn is_in(&self, number: u32, status: Status) {
        let path = self.folder.path().join(format!("tasks/{status}/{}.md", task(number)));
        assert!(path.exists(), "{} is not {status}", task(number));
    }

    /// The moves of a task, with their reasons.
    fn moves(&self, number: u32) -> Vec<(Value, Value, Value)> {
        let is_move = |event: &&Value| {
            event["type"] == "task.transitioned" && event["taskId"] == json!(task(number))
        };
        let events = self.events();
        let shown = |event: &Value| {
            let payload = &event["payload"];
            (payload["from"].clone(), payload["to"].clone(), payload["reason"].clone())
        };
        events.iter().filter(is_move).map(shown).collect()
    }

    fn waits(&self) -> bool {
        self.tree.settings().rules().apply == ApplyMode::SessionEnd
    }

    fn ends_session(&self) {
        self.tree.session_end(&SessionEndRequest::default(), &human()).unwrap();
    }
}

fn done() -> Value {
    json!({
        "outcome": "done",
        "summaryRef": "outputs/summary.md",
        "deliverables": ["src/api/users.ts", "src/api/auth.ts"],
        "tests": {"total": 120, "passed": 120, "failed": 0},
        "blockers": [],
        "notes": "All acceptance criteria met. Tests passing. Ready for review.",
    })
}

#[test]
fn example_1_passes_with_its_own_clock() {
    for case in cases() {
        // The lease is of a clock that is a minute and a half ahead of the one of the sender.
        case.at("2026-02-09T21:11:30Z");
        case.claim_as(57, "swe-backend");
        let message = json!({
            "protocol": "aof",
            "version": 1,
            "type": "completion.report",
            "taskId": task(57),
            "fromAgent": "swe-backend",
            "toAgent": "dispatcher",
            "sentAt": "2026-02-09T21:10:00.000Z",
            "payload": done(),
        });
        case.tree.message(&message, &agent("swe-backend")).unwrap();
        case.ends_session();
        case.is_in(57, Status::Review);
    }
}

#[test]
fn example_1_a_completion_report_done() {
    for case in cases() {
        case.claim_as(57, "swe-backend");
        case.example(
            "completion.report",
            57,
            "swe-backend",
            "dispatcher",
            "2026-02-09T21:10:00.000Z",
            done(),
        );
        let result: Value =
            serde_json::from_str(&case.text(&format!("runs/{}/run_result.json", task(57))))
                .unwrap();
        assert_eq!(result["outcome"], "done");
        assert_eq!(result["completedAt"], "2026-02-09T21:10:00.000Z");
        assert_eq!(result["deliverables"], done()["deliverables"]);
        assert!(case.events().iter().any(|event| event["type"] == "task.completed"));
        if case.waits() {
            case.is_in(57, Status::InProgress);
        }
        case.ends_session();
        case.is_in(57, Status::Review);
        assert_eq!(case.moves(57).len(), 2);
        case.is_clean();
    }
}

#[test]
fn example_2_a_completion_report_blocked() {
    for case in cases() {
        case.claim_as(58, "swe-backend");
        let payload = json!({
            "outcome": "blocked",
            "summaryRef": "outputs/summary.md",
            "deliverables": ["src/api/users.ts"],
            "tests": {"total": 50, "passed": 50, "failed": 0},
            "blockers": ["Awaiting API key for external service", "Need database credentials"],
            "notes": "Implemented core logic. Cannot proceed without credentials.",
        });
        let answer = case.example(
            "completion.report",
            58,
            "swe-backend",
            "dispatcher",
            "2026-02-09T21:15:00.000Z",
            payload,
        );
        assert_eq!(answer.notices.len(), usize::from(!case.waits()));
        case.ends_session();
        case.is_in(58, Status::Blocked);
        let (_, _, reason) = case.moves(58).pop().unwrap();
        assert_eq!(reason, "Awaiting API key for external service; Need database credentials");
    }
}

#[test]
fn example_3_a_status_update_with_progress() {
    for case in cases() {
        case.claim_as(59, "swe-qa");
        let payload = json!({
            "taskId": task(59),
            "agentId": "swe-qa",
            "progress": "Executed 50/100 test cases",
            "notes": "No issues found so far",
        });
        case.example(
            "status.update",
            59,
            "swe-qa",
            "dispatcher",
            "2026-02-09T21:20:00.000Z",
            payload,
        );
        let file =
            case.file(Status::InProgress, accord_tasks_core::TaskId::parse(&task(59)).unwrap());
        let expected = "## Work Log\n\n- 2026-02-09T21:20:00.000Z Progress: Executed 50/100 test \
                        cases | Notes: No issues found so far\n";
        assert!(file.ends_with(expected), "{file}");
        case.is_in(59, Status::InProgress);
    }
}

#[test]
fn example_4_a_status_update_with_a_transition() {
    for case in cases() {
        case.claim_as(60, "swe-qa");
        let payload = json!({
            "taskId": task(60),
            "agentId": "swe-qa",
            "status": "blocked",
            "blockers": ["Test environment unreachable"],
            "notes": "Cannot proceed until infrastructure is fixed",
        });
        let answer = case.example(
            "status.update",
            60,
            "swe-qa",
            "dispatcher",
            "2026-02-09T21:25:00.000Z",
            payload,
        );
        case.is_in(60, Status::Blocked);
        assert_eq!(answer.notices[0].status, Status::Blocked);
        let (from, to, reason) = case.moves(60).pop().unwrap();
        assert_eq!([from, to, reason], ["in-progress", "blocked", "Test environment unreachable"]);
    }
}

fn handoff() -> Value {
    json!({
        "taskId": task(61),
        "parentTaskId": task(57),
        "fromAgent": "swe-backend",
        "toAgent": "swe-qa",
        "acceptanceCriteria": [
            "All unit tests pass",
            "Integration tests pass",
            "Code coverage >= 80%",
        ],
        "expectedOutputs": ["tests/report.md", "coverage/report.html"],
        "contextRefs": [
            "tasks/in-progress/TASK-2026-02-09-057.md",
            "tasks/in-progress/TASK-2026-02-09-057/outputs/handoff.md",
            "src/api/users.ts",
            "src/api/auth.ts",
        ],
        "constraints": ["No new dependencies", "Use existing test framework"],
        "dueBy": "2026-02-10T12:00:00.000Z",
    })
}

#[test]
fn example_5_a_handoff_request() {
    for case in cases() {
        case.claim_as(57, "swe-backend");
        for _ in 0..2 {
            // Sent again, it writes the same.
            case.example(
                "handoff.request",
                61,
                "swe-backend",
                "swe-qa",
                "2026-02-09T21:30:00.000Z",
                handoff(),
            );
            let folder = format!("tasks/ready/{}/inputs", task(61));
            let document: Value =
                serde_json::from_str(&case.text(&format!("{folder}/handoff.json"))).unwrap();
            assert_eq!(document, handoff());
            let text = case.text(&format!("{folder}/handoff.md"));
            assert!(
                text.starts_with(
                    "# Handoff Request\n\n**From:** swe-backend\n**To:** swe-qa\n**Due By:** \
                 2026-02-10T12:00:00.000Z\n\n## Acceptance Criteria\n\n- All unit tests pass\n"
                ),
                "{text}"
            );
        }
        let requested = case
            .events()
            .into_iter()
            .filter(|event| event["type"] == "delegation.requested")
            .count();
        assert_eq!(requested, 2);
        let file = case.text(&format!("tasks/ready/{}.md", task(61)));
        assert!(file.contains("delegationDepth: 1"));
    }
}

#[test]
fn example_6_a_handoff_is_accepted() {
    for case in cases() {
        let payload = json!({"taskId": task(61), "accepted": true});
        case.example(
            "handoff.accepted",
            61,
            "swe-qa",
            "dispatcher",
            "2026-02-09T21:35:00.000Z",
            payload,
        );
        case.is_in(61, Status::Ready);
        assert_eq!(case.events().last().unwrap()["type"], "delegation.accepted");
    }
}

#[test]
fn example_7_a_handoff_is_rejected() {
    for case in cases() {
        let reason = "Insufficient context: no test plan provided";
        let payload = json!({"taskId": task(62), "accepted": false, "reason": reason});
        let answer = case.example(
            "handoff.rejected",
            62,
            "swe-qa",
            "dispatcher",
            "2026-02-09T21:40:00.000Z",
            payload,
        );
        case.is_in(62, Status::Blocked);
        assert_eq!(case.moves(62), [(json!("ready"), json!("blocked"), json!(reason))]);
        assert_eq!(case.events().last().unwrap()["type"], "delegation.rejected");
        assert_eq!(answer.notices[0].status, Status::Blocked);
    }
}

/// A task whose agent reported `partial` and died before the report moved it.
#[test]
fn example_8_a_silent_run_with_a_result() {
    for case in cases() {
        case.claim_as(57, "swe-backend");
        let payload = json!({
            "outcome": "partial",
            "summaryRef": "outputs/summary.md",
            "deliverables": ["src/foo.ts"],
            "tests": {"total": 10, "passed": 8, "failed": 2},
            "blockers": [],
            "notes": "80% complete; needs final polish",
        });
        if case.waits() {
            case.example(
                "completion.report",
                57,
                "swe-backend",
                "dispatcher",
                "2026-02-09T20:58:00.000Z",
                payload,
            );
        } else {
            // The artifact as the guide shows it, which the agent's own tool left.
            let result = json!({
                "taskId": task(57),
                "agentId": "swe-backend",
                "completedAt": "2026-02-09T20:58:00.000Z",
                "outcome": "partial",
                "summaryRef": "outputs/summary.md",
                "handoffRef": "outputs/handoff.md",
                "deliverables": ["src/foo.ts"],
                "tests": {"total": 10, "passed": 8, "failed": 2},
                "blockers": [],
                "notes": "80% complete; needs final polish",
            });
            let path = case.folder.path().join(format!("runs/{}/run_result.json", task(57)));
            std::fs::write(path, result.to_string()).unwrap();
        }
        case.at("2026-02-09T21:00:00.000Z");
        case.poll();
        case.is_in(57, Status::Review);
        let (from, to, reason) = case.moves(57).pop().unwrap();
        assert_eq!([from, to, reason], ["in-progress", "review", "stale_heartbeat_partial"]);
    }
}

#[test]
fn example_9_a_silent_run_without_a_result() {
    for case in cases() {
        case.claim_as(57, "swe-backend");
        case.at("2026-02-09T20:59:59.000Z");
        case.poll();
        case.is_in(57, Status::InProgress);
        case.at("2026-02-09T21:00:00.000Z");
        case.poll();
        case.is_in(57, Status::Ready);
        let (from, to, reason) = case.moves(57).pop().unwrap();
        assert_eq!([from, to, reason], ["in-progress", "ready", "stale_heartbeat_reclaim"]);
        let run: Value =
            serde_json::from_str(&case.text(&format!("runs/{}/run.json", task(57)))).unwrap();
        assert_eq!(
            (&run["status"], &run["metadata"]["expiredReason"]),
            (&json!("failed"), &json!("stale_heartbeat"))
        );
    }
}
