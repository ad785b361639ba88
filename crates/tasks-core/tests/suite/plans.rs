//! Many tasks in one file.

use accord_tasks_core::operations::CreateRequest;
use accord_tasks_core::plan::{circle, read_plan};
use accord_tasks_core::task::Priority;

fn titles(plan: &[CreateRequest]) -> Vec<&str> {
    plan.iter().map(|task| task.title.as_str()).collect()
}

#[test]
fn each_heading_is_a_task_with_its_properties_and_its_text() {
    let plan = read_plan(
        "---\nrole: dev\ntags: rust, parser\n---\n# The reader\n\nWhy we do it.\n\n\
         ## Choose the format\nkey: format\npriority: high\ndue: 2026-03-01\n\n\
         Compare TOML and JSON.\n\n### Notes\n\n```\n## no heading\n```\n\
         ## Write the reader\n\nafter: format, TASK-2026-02-09-001\nrole: parser\n",
    )
    .unwrap();
    assert_eq!(titles(&plan), ["Choose the format", "Write the reader"]);
    let [format, reader] = plan.as_slice() else { panic!() };
    assert_eq!((format.key.as_deref(), format.role.as_deref()), (Some("format"), Some("dev")));
    assert_eq!(
        (format.priority, format.due.as_deref()),
        (Some(Priority::High), Some("2026-03-01"))
    );
    let text = format.instructions.as_deref().unwrap();
    assert!(text.starts_with("Compare TOML") && text.contains("## no heading"), "{text}");
    assert_eq!(reader.key.as_deref(), Some("Write the reader"));
    assert_eq!(reader.depends_on.as_deref().unwrap(), ["format", "TASK-2026-02-09-001"]);
    assert_eq!((reader.role.as_deref(), &reader.instructions), (Some("parser"), &None));
    assert_eq!(reader.tags.as_deref().unwrap(), ["rust", "parser"]);
}

#[test]
fn each_open_item_of_a_checklist_is_a_task_and_inner_ones_are_parts() {
    let plan = read_plan(
        "# Week 8\n\n## Reader\n\n- [ ] Choose the format\n  agent: codex\n  Compare both.\n\
         - [x] Ask the users\n- [ ] Write the reader\n\n  after: Choose the format\n\
         \x20 - [ ] Parse lines\n  - [x] Parse words\n\n## Later\n* [ ] Write the manual\n\
         This is not its text.\n",
    )
    .unwrap();
    let all = ["Choose the format", "Write the reader", "Parse lines", "Write the manual"];
    assert_eq!(titles(&plan), all);
    assert_eq!(plan[0].agent.as_deref(), Some("codex"));
    assert_eq!(plan[0].instructions.as_deref(), Some("Compare both."));
    assert_eq!(plan[1].depends_on.as_deref().unwrap(), ["Choose the format"]);
    let parents: Vec<Option<&str>> = plan.iter().map(|task| task.parent.as_deref()).collect();
    assert_eq!(parents, [None, None, Some("Write the reader"), None]);
    assert_eq!(plan[3].instructions, None);
}

#[test]
fn a_list_in_json_is_the_requests() {
    for text in ["[{\"title\": \"a\", \"ready\": true}]", "{\"tasks\": [{\"title\": \"a\"}]}"] {
        assert_eq!(titles(&read_plan(text).unwrap()), ["a"]);
    }
    let wrong = read_plan("[{\"title\": \"a\"}, {\"titel\": \"b\"}]").unwrap_err();
    assert!(wrong.message.starts_with("task 2: "), "{}", wrong.message);
}

#[test]
fn what_is_wrong_is_named_by_its_line() {
    for (text, line) in [
        ("## a\nprio: high\n", "line 2: prio is no property"),
        ("## a\npriority: soon\n", "line 2: a priority is"),
        ("---\nrole: dev\n## a\n", "line 1: the front matter has no closing line"),
        ("- [ ] a\n  ready: perhaps\n", "line 2: ready is yes or no"),
    ] {
        let message = read_plan(text).unwrap_err().message;
        assert!(message.starts_with(line), "{message}");
    }
    assert!(read_plan("Nothing to do.\n").unwrap_err().message.contains("no task"));
}

#[test]
fn tasks_that_wait_for_each_other_are_found() {
    assert_eq!(circle(&[vec![1], vec![2], vec![]]), None);
    assert_eq!(circle(&[vec![], vec![2], vec![1]]), Some(vec![1, 2]));
    assert_eq!(circle(&[vec![0]]), Some(vec![0]));
}
