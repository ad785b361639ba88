use super::*;
use crate::task::split_comments;

const ID: &str = "TASK-2026-02-09-001";
const NEXT: &str = "TASK-2026-02-09-002";

fn at(minute: u8) -> String {
    format!("2026-02-09T20:{minute:02}:00.000Z")
}

fn version(id: &str, born: u8, changed: u8, members: &str, body: &str) -> TaskFile {
    let status = if members.contains("status:") { "" } else { "status: ready\n" };
    let title = if members.contains("title:") { "" } else { "title: A\n" };
    let text = format!(
        "---\nschemaVersion: 1\nid: {id}\nproject: shop\n{title}{status}createdAt: {}\nupdatedAt: \
         {}\nlastTransitionAt: {}\ncreatedBy: main\n{members}---\n\n{body}\n",
        at(born),
        at(changed),
        at(changed)
    );
    TaskFile::read(&text).expect("a task")
}

fn combined(ours: TaskFile, theirs: TaskFile, base: &TaskFile) -> Combined {
    combine(vec![ours, theirs], Some(base)).expect("combined").expect("versions")
}

#[test]
fn what_only_one_changed_counts() {
    let said = |by: &str| format!("## Comments\n\n- 2026-02-09T20:0{by}:00.000Z {by}: yes\n");
    let needed = |ids: &str| format!("dependsOn: [{ids}]\n");
    let (two, three, four) = (NEXT, "TASK-2026-02-09-003", "TASK-2026-02-09-004");
    let base = version(ID, 1, 1, &format!("priority: normal\n{}", needed(two)), "Do it.");
    let ours = version(
        ID,
        1,
        3,
        &format!("priority: high\n{}", needed(&format!("{two}, {three}"))),
        &format!("Do it.\n\n{}", said("2")),
    );
    let theirs = version(
        ID,
        1,
        2,
        &format!("title: B\npriority: normal\n{}metadata: {{due: 2026-12-01}}\n", needed(four)),
        &format!("Do it well.\n\n{}", said("1")),
    );
    let found = combined(ours, theirs, &base);
    let task = found.file.task();
    assert_eq!((task.title.as_str(), task.urgency().as_str()), ("B", "high"));
    let needed: Vec<String> = task.dependencies().iter().map(ToString::to_string).collect();
    assert_eq!(needed, [three, four]);
    assert!(task.metadata("due").is_some());
    let (text, comments) = split_comments(found.file.body());
    assert_eq!(text, "Do it well.");
    assert_eq!(comments.iter().map(|said| said.by.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    assert_eq!((found.reason, found.dropped), ("united", Vec::new()));
}

#[test]
fn an_edit_that_is_later_takes_no_move_back() {
    let base = version(ID, 1, 1, "", "Do it.");
    let moved = version(ID, 1, 2, "status: blocked\nmetadata: {blockReason: x}\n", "Do it.");
    let edited = version(ID, 1, 3, "priority: high\n", "Do it.");
    for versions in [[moved.clone(), edited.clone()], [edited, moved]] {
        let [ours, theirs] = versions;
        let found = combined(ours, theirs, &base);
        let task = found.file.task();
        assert_eq!((task.status, task.urgency().as_str()), (Status::Blocked, "high"));
        assert_eq!(found.dropped, Vec::new());
    }
}

#[test]
fn what_is_dropped_is_said_with_both_values() {
    let base = version(ID, 1, 1, "", "Do it.");
    let ours = version(ID, 1, 3, "title: B\n", "Do it.");
    let theirs = version(ID, 1, 2, "title: C\n", "Do it.");
    let found = combined(ours, theirs, &base);
    let said: Vec<String> = found.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(said, ["title: \"B\" counts, \"C\" is dropped"]);
    assert_eq!((found.reason, found.decided), ("later", None));
}

#[test]
fn two_persons_decide() {
    let decided = |name: &str, by: &str, minute: u8| {
        format!("metadata: {{{name}: {{by: {by}, at: {}}}}}\n", at(minute))
    };
    let base = version(ID, 1, 1, "status: review\n", "Do it.");
    let done = decided("approval", "human:ben", 2);
    let done = version(ID, 1, 2, &format!("status: done\n{done}"), "Do it.");
    let back = version(ID, 1, 3, &decided("sentBack", "human:ann", 3), "Do it.");
    let found = combined(done, back, &base);
    assert_eq!((found.file.task().status, found.reason), (Status::Ready, "decision"));
    let said = found.decided.expect("two decisions");
    assert!(said.contains("human:ben") && said.contains("human:ann"), "{said}");
    assert!(said.find("human:ben") < said.find("human:ann"), "{said}");
}

#[test]
fn versions_follow_their_task_to_its_new_id() {
    let of_ann = version(ID, 1, 1, "title: Of ann\n", "");
    let of_ben = version(ID, 2, 2, "title: Of ben\n", "");
    let now = format!("title: Of ben\nmetadata: {{formerIds: [{ID}]}}\n");
    let renumbered = version(NEXT, 2, 2, &now, "");
    let later = version(ID, 2, 3, "title: Of ben\npriority: high\n", "");
    let tasks = group(vec![of_ben], vec![of_ann, renumbered], vec![later]);
    let (id, next) = (TaskId::parse(ID).expect("an id"), TaskId::parse(NEXT).expect("an id"));
    let [(_, first)] = &tasks[&id][..] else { panic!("{tasks:?}") };
    assert!(first.theirs.is_none() && !first.is_changed_there());
    let [(_, second)] = &tasks[&next][..] else { panic!("{tasks:?}") };
    let found = combine(second.choices(), second.base.as_ref()).expect("combined");
    let found = found.expect("a version").file;
    assert_eq!((found.task().id, found.task().urgency().as_str()), (next, "high"));
    assert_eq!(former(&found), [id]);
}

#[test]
fn two_tasks_of_one_id() {
    let of_ann = version(ID, 1, 1, "title: Of ann\n", "");
    let of_ben = version(ID, 2, 2, "title: Of ben\n", "");
    let tasks = group(Vec::new(), vec![of_ben], vec![of_ann]);
    let titles: Vec<String> = tasks[&TaskId::parse(ID).expect("an id")]
        .iter()
        .flat_map(|(_, sides)| sides.choices())
        .map(|file| file.task().title.clone())
        .collect();
    assert_eq!(titles, ["Of ann", "Of ben"]);
}

#[test]
fn a_change_outlives_the_removal_in_the_other_copy() {
    let base = version(ID, 1, 1, "", "");
    let changed = version(ID, 1, 2, "priority: high\n", "");
    let sides = |ours: Option<&TaskFile>, theirs: Option<&TaskFile>| Sides {
        base: Some(base.clone()),
        ours: ours.cloned(),
        theirs: theirs.cloned(),
        ..Sides::default()
    };
    for sides in [sides(Some(&changed), None), sides(None, Some(&changed))] {
        assert_eq!(sides.kept(), Some(&changed));
        assert_eq!(sides.choices(), std::slice::from_ref(&changed));
    }
    let removed = sides(Some(&base), None);
    assert!(removed.kept().is_none() && removed.choices().is_empty());
}
