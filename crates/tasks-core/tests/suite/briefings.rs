//! What an agent reads before it works.

use accord_base::tokens;
use accord_contract::Timestamp;
use accord_tasks_core::briefing::{Audience, Briefing, DEFAULT_TOKENS, Dependency, Held};
use accord_tasks_core::task::{Priority, TaskComment};
use accord_tasks_core::{Status, TaskId};

use crate::support::at;

/// Texts of every part.
struct Texts {
    instructions: String,
    work_log: Vec<String>,
    outputs: Vec<String>,
    comments: Vec<TaskComment>,
    until: Timestamp,
}

fn texts() -> Texts {
    Texts {
        instructions: "## Instructions\n\nRead every line.".into(),
        work_log: vec!["- 2026-02-09T21:00:00.000Z Progress: Half".into()],
        outputs: vec!["outputs/format.md".into()],
        comments: vec![TaskComment {
            by: "human:reviewer".into(),
            at: Timestamp::emit(at(0)),
            text: "Mind the empty lines.".into(),
        }],
        until: Timestamp::emit(at(300)),
    }
}

impl Texts {
    fn briefing(&self) -> Briefing<'_> {
        Briefing {
            id: TaskId::parse("TASK-2026-02-09-057").unwrap(),
            project: "shop",
            title: "Write the parser\n## Extra",
            priority: Priority::High,
            status: Status::InProgress,
            lease: Some(Held { agent: "dev", run_id: Some("run_1"), alive_until: &self.until }),
            block_reason: None,
            due: Some(("2026-02-10", false)),
            comments: &self.comments,
            sent_back: Some(("human:reviewer", Some("# No tests"))),
            instructions: &self.instructions,
            work_log: &self.work_log,
            handoff: Some("# Handoff Request\n\n## Constraints\n\n- No dependencies"),
            inputs: vec![("inputs/handoff.md", 60)],
            inputs_hidden: 0,
            dependencies: vec![Dependency {
                id: TaskId::parse("TASK-2026-02-09-056").unwrap(),
                title: "Choose the format",
                status: Some("done"),
                folder: Some("/tree/tasks/done/TASK-2026-02-09-056".into()),
                summary: Some("TOML"),
                notes: Some("version 1"),
                outputs: &self.outputs,
                outputs_hidden: 0,
                approval: Some(("human:reviewer", Some("TOML it is"))),
                comments: &self.comments,
            }],
            memory: Some("# Briefing\n\nThe project uses SQLite."),
            file: "/tree/tasks/in-progress/TASK-2026-02-09-057.md".into(),
            directory: "/tree/tasks/in-progress/TASK-2026-02-09-057",
        }
    }
}

#[test]
fn a_briefing_has_every_part_in_order() {
    let texts = texts();
    let text = texts.briefing().text(Audience::Worker, DEFAULT_TOKENS);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        headings,
        [
            "# TASK-2026-02-09-057: Write the parser ## Extra",
            "## Sent back by human:reviewer",
            "## Comments",
            "## Instructions",
            "## Handoff",
            "### Constraints",
            "## Tasks that this one builds on",
            "## Inputs, in /tree/tasks/in-progress/TASK-2026-02-09-057/inputs",
            "## The memory of the project",
            "### Briefing",
            "## Work log",
            "## Where to write",
            "## How to report",
        ],
        "{text}"
    );
    for part in [
        "> # No tests",
        "Read every line.",
        "Summary: TOML",
        "Notes: version 1",
        "outputs/format.md",
        "The project uses SQLite.",
        "Progress: Half",
        "(run run_1)",
        "outputs/report.json",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn each_reader_is_told_its_own_way_to_report() {
    let texts = texts();
    let said = |audience| texts.briefing().text(audience, DEFAULT_TOKENS);
    assert!(said(Audience::Tools).contains("aof_task_complete with taskId"));
    let command = said(Audience::Command(" --project shop"));
    for part in [
        "accord task message --now --project shop <<'END'\n{\"protocol\":\"aof\",",
        "\"type\":\"completion.report\",\"taskId\":\"TASK-2026-02-09-057\"",
        "\"fromAgent\":\"dev\",\"runId\":\"run_1\"",
        "accord task heartbeat TASK-2026-02-09-057 --as dev --run run_1 --project shop\n",
        "accord task release TASK-2026-02-09-057 --as dev --run run_1 --project shop\n",
        "send a heartbeat before 2026-02-09T21:05:00",
    ] {
        assert!(command.contains(part), "{part}: {command}");
    }
    // A name is one word of the shell.
    let mut quoted = texts.briefing();
    quoted.lease = Some(Held { agent: "the dev's", run_id: None, alive_until: &texts.until });
    let quoted = quoted.text(Audience::Command(""), DEFAULT_TOKENS);
    assert!(quoted.contains("heartbeat TASK-2026-02-09-057 --as 'the dev'\\''s'\n"), "{quoted}");
    let http = said(Audience::Http);
    for part in [
        "/accord/v1/projects/shop",
        "\"sentAt\":",
        "tasks/TASK-2026-02-09-057/heartbeat",
        "{\"agent\":\"dev\",\"run_id\":\"run_1\"}",
    ] {
        assert!(http.contains(part), "{part}: {http}");
    }
    // A worker sends them for its agent.
    assert!(!said(Audience::Worker).contains("heartbeat"));
}

#[test]
fn a_text_keeps_to_its_budget_and_counts_what_is_missing() {
    let mut texts = texts();
    texts.instructions = "Cut one more tile. ".repeat(4_000);
    texts.work_log = (0..200).map(|number| format!("- entry {number}")).collect();
    texts.outputs = (0..200).map(|number| format!("outputs/{number}.md")).collect();
    for audience in [Audience::Tools, Audience::Command(""), Audience::Http, Audience::Worker] {
        for budget in [300, 500, 1_000, 4_000] {
            let text = texts.briefing().text(audience, budget);
            assert!(tokens(&text) <= budget, "{budget}: {} {text}", tokens(&text));
            assert!(text.contains("TASK-2026-02-09-057") && text.contains("How to report"));
        }
        let text = texts.briefing().text(audience, 4_000);
        assert!(text.contains("more characters, in /tree/tasks/in-progress/"), "{text}");
        assert!(text.contains(" and 188 more"), "{text}");
        assert!(text.contains("- entry 199") && text.contains("entries before"), "{text}");
    }
}

#[test]
fn nothing_is_cut_if_everything_fits() {
    let mut texts = texts();
    // More than the share of the instructions, and the rest is short.
    texts.instructions = "Cut one more tile. ".repeat(570);
    let text = texts.briefing().text(Audience::Tools, 4_000);
    assert!(tokens(&texts.instructions) > 2_400 && tokens(&text) <= 4_000);
    assert!(!text.contains("more characters"), "{text}");
    assert!(text.contains("The project uses SQLite."), "{text}");
}

#[test]
fn a_section_without_others_after_it_is_cut_and_not_left_out() {
    let mut texts = texts();
    texts.instructions = "Cut one more tile. ".repeat(2_000);
    let mut briefing = texts.briefing();
    (briefing.handoff, briefing.memory, briefing.work_log) = (None, None, &[]);
    briefing.dependencies.clear();
    briefing.inputs.clear();
    for budget in 400..450 {
        let text = briefing.text(Audience::Tools, budget);
        assert!(tokens(&text) <= budget, "{budget}: {text}");
        assert!(text.contains("Cut one more tile."), "{budget}: {text}");
        assert!(text.contains("more characters, in /tree/"), "{budget}: {text}");
    }
}
