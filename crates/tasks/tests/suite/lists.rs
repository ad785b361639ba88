//! What is read: lists, the board, one task.

use std::fs;

use accord_contract::Code;
use accord_tasks_core::operations::{BoardQuery, ListAnswer, ListQuery, ShowQuery};
use accord_tasks_core::task::Priority;
use accord_tasks_core::{Status, TaskId};

use crate::support::{AGENT, Case, agent, human, id, ready, routed};

fn list(case: &Case, about: impl FnOnce(&mut ListQuery)) -> ListAnswer {
    let mut request = ListQuery::default();
    about(&mut request);
    case.tree.list(&request, &human()).unwrap()
}

fn ids(answer: &ListAnswer) -> Vec<TaskId> {
    answer.tasks.iter().map(|task| task.id).collect()
}

#[test]
fn pages_follow_each_other_without_gaps() {
    let case = Case::new();
    let mut expected = Vec::new();
    for number in 0..5 {
        expected.push(id(&case.tree.create(&ready(&format!("t{number}")), &human()).unwrap()));
    }
    let mut urgent = ready("urgent");
    urgent.priority = Some(Priority::High);
    expected.insert(0, id(&case.tree.create(&urgent, &human()).unwrap()));
    let done = [case.in_status(Status::Done), case.in_status(Status::Done)];
    // Finished tasks are left out unless they are asked for, and are counted.
    let open = list(&case, |_| {});
    assert_eq!((ids(&open), open.total, open.remaining), (expected.clone(), 6, 0));
    assert_eq!((open.counts["done"], open.counts["ready"]), (2, 6));
    // The newest finished task first.
    expected.extend([done[1], done[0]]);
    let (mut found, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = list(&case, |request| {
            request.all = true;
            request.limit = Some(3);
            request.cursor = cursor;
        });
        found.extend(ids(&page));
        pages += 1;
        assert_eq!((page.total, page.remaining), (8, (8 - found.len()) as u64));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
        // A task that moves between two pages is neither lost nor doubled.
        if pages == 1 {
            case.tree.block(&expected[4].to_string(), &block(), &human()).unwrap();
        }
    }
    assert_eq!((found, pages), (expected, 3));
    let wrong = ListQuery { cursor: Some("nowhere".into()), ..ListQuery::default() };
    assert_eq!(case.tree.list(&wrong, &human()).unwrap_err().code, Code::AgenticInvalidCursor);
}

fn block() -> accord_tasks_core::operations::BlockRequest {
    accord_tasks_core::operations::BlockRequest { reason: "no key".into() }
}

#[test]
fn filters_hold_for_open_and_finished_tasks() {
    let case = Case::new();
    let mut new = routed("Write the API");
    new.tags = Some(vec!["rust".into()]);
    new.team = Some("core".into());
    new.ready = Some(true);
    let open = id(&case.tree.create(&new, &human()).unwrap());
    let closed = id(&case.tree.create(&new, &human()).unwrap());
    case.tree.close(&closed.to_string(), &Default::default(), &human()).unwrap();
    let part = {
        let mut part = ready("part");
        part.parent = Some(open.to_string());
        id(&case.tree.create(&part, &human()).unwrap())
    };
    let all = |about: &dyn Fn(&mut ListQuery)| {
        let answer = list(&case, |request| {
            request.all = true;
            about(request);
        });
        assert_eq!(answer.total as usize, answer.tasks.len());
        ids(&answer)
    };
    let both = [open, closed];
    assert_eq!(all(&|request| request.agent = Some(AGENT.into())), both);
    assert_eq!(all(&|request| request.team = Some("core".into())), both);
    assert_eq!(all(&|request| request.tag = Some("rust".into())), both);
    assert_eq!(all(&|request| request.text = Some("the api".into())), both);
    assert_eq!(all(&|request| request.priority = Some(Priority::Low)), []);
    assert_eq!(all(&|request| request.role = Some("tester".into())), []);
    assert_eq!(all(&|request| request.status = Some(vec![Status::Done])), [closed]);
    assert_eq!(all(&|request| request.parent = Some(open.to_string())), [part]);
    // The agent that has a task, wherever it is routed.
    case.tree.claim(&part.to_string(), &Default::default(), &agent("swe-qa")).unwrap();
    assert_eq!(all(&|request| request.agent = Some("swe-qa".into())), [part]);
}

#[test]
fn a_broken_file_is_named_and_hides_nothing_else() {
    let case = Case::new();
    let (broken, whole) = (case.ready(), case.ready());
    case.poll();
    fs::write(case.folder.path().join(format!("tasks/ready/{broken}.md")), "---\n").unwrap();
    let answer = list(&case, |_| {});
    assert_eq!((ids(&answer), answer.damaged), (vec![whole], vec![broken.to_string()]));
}

#[test]
fn the_board_counts_what_it_leaves_out() {
    let case = Case::new();
    for _ in 0..4 {
        case.ready();
    }
    let running = case.claimed();
    case.in_status(Status::Cancelled);
    let mut request = BoardQuery { limit: Some(3), ..BoardQuery::default() };
    let board = case.tree.board(&request, &human()).unwrap();
    assert_eq!((board.total, board.columns.len()), (6, Status::ALL.len()));
    let column = |status| board.columns.iter().find(|column| column.status == status).unwrap();
    let ready = column(Status::Ready);
    assert_eq!((ready.count, ready.tasks.len(), ready.hidden), (4, 3, 1));
    let lease = column(Status::InProgress).tasks[0].lease.as_ref().unwrap();
    assert_eq!((lease.agent.as_str(), lease.run_id.is_some()), (AGENT, true));
    assert_eq!(column(Status::InProgress).tasks[0].id, running);
    assert_eq!(column(Status::Cancelled).count, 1);
    assert_eq!(board.last_event, case.events().len() as u64);
    request.team = Some("core".into());
    let team = case.tree.board(&request, &human()).unwrap();
    assert!(team.columns.iter().all(|column| column.count == 0));
}

#[test]
fn a_task_is_shown_with_everything_around_it() {
    let case = Case::new();
    let first = case.in_status(Status::Done);
    let second = case.ready();
    let mut new = routed("third");
    new.depends_on = Some(vec![first.to_string(), second.to_string()]);
    new.instructions = Some("Do it.".into());
    let third = id(&case.tree.create(&new, &human()).unwrap());
    let shown = case.tree.show(&third.to_string(), &ShowQuery::default(), &human()).unwrap();
    let needed: Vec<_> =
        shown.task.depends_on.iter().map(|needed| (needed.id, needed.status)).collect();
    assert_eq!(needed, [(first, Some(Status::Done)), (second, Some(Status::Ready))]);
    assert_eq!(shown.task.body.as_deref(), Some("## Instructions\n\nDo it."));
    assert_eq!(shown.task.path, format!("tasks/backlog/{third}.md"));
    let waiting = list(&case, |request| request.status = Some(vec![Status::Backlog]));
    assert_eq!(waiting.tasks[0].waits_for.as_ref().unwrap()[0].id, second);
    let blocker = case.tree.show(&second.to_string(), &ShowQuery::default(), &human()).unwrap();
    assert_eq!(blocker.task.dependents[0].id, third);
    // The outputs of an agent, with links left alone.
    let outputs = case.folder.path().join(format!("tasks/done/{first}/outputs"));
    fs::create_dir(outputs.join("src")).unwrap();
    fs::write(outputs.join("src/api.rs"), "x").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", outputs.join("link")).unwrap();
    let shown = case.tree.show(&first.to_string(), &ShowQuery::default(), &human()).unwrap();
    let paths: Vec<&str> = shown.outputs.iter().map(|output| output.path.as_str()).collect();
    assert_eq!((paths, shown.outputs_hidden), (vec!["outputs/src/api.rs"], 1));
    assert_eq!(shown.task.run.unwrap().result.unwrap().notes, "ok");
    let brief = ShowQuery { without_body: true };
    assert_eq!(case.tree.show(&first.to_string(), &brief, &human()).unwrap().task.body, None);
}

#[test]
fn a_beginning_of_an_id_names_its_task() {
    let case = Case::new();
    let first = case.ready();
    case.clock.add(86_400);
    let second = case.ready();
    let show = |text: &str| {
        let shown = case.tree.show(text, &ShowQuery::default(), &human());
        shown.map(|shown| shown.task.id)
    };
    for text in [
        "TASK-2026-02-09-001",
        "TASK-2026-02-09",
        "2026-02-09",
        "task-2026-02-09",
        " 2026-02-09-0 ",
    ] {
        assert_eq!(show(text).unwrap(), first, "{text}");
    }
    assert_eq!(show("2026-02-10").unwrap(), second);
    for text in ["TASK", "2026", "TASK-2026-02-"] {
        let refused = show(text).unwrap_err();
        assert_eq!(refused.code, Code::AofAmbiguousTaskId, "{text}");
        assert!(refused.message.contains(&second.to_string()), "{}", refused.message);
    }
    for text in ["", "TASK-2026-02-09-002", "x"] {
        let refused = show(text);
        if text.is_empty() {
            // Every id begins with nothing.
            assert_eq!(refused.unwrap_err().code, Code::AofAmbiguousTaskId);
            continue;
        }
        let refused = refused.unwrap_err();
        assert_eq!(refused.code, Code::AofTaskNotFound, "{text}");
        assert!(refused.suggestion.unwrap().contains("TASK-2026-02-"), "{text}");
    }
}
