//! Bringing two versions of one task together. The version that counts keeps what it says; what
//! only the other one changed since both were the same is taken over, and nothing that somebody
//! said is dropped.

use accord_contract::Value;
use accord_tasks_core::referee::decides;
use accord_tasks_core::task::{
    TaskComment, TaskFile, content_hash, split_comments, split_work_log, with_comments,
};
use accord_tasks_core::yaml::Change;

use crate::Result;
use crate::operations::apply::invalid;

/// The members of a front matter that a version can get from the other one.
const MEMBERS: [&str; 5] = ["title", "priority", "routing", "sla", "resource"];

/// Takes over what only the version that lost changed. `base` is the version that both come from.
pub(super) fn unite(file: &mut TaskFile, lost: &TaskFile, base: Option<&TaskFile>) -> Result<()> {
    let mut changes = Vec::new();
    if let Some(base) = base {
        let of = |file: &TaskFile, name: &str| file.members().get(name).cloned();
        for name in MEMBERS {
            let (ours, theirs, before) = (of(file, name), of(lost, name), of(base, name));
            changes.extend(taken(&[name], ours.as_ref(), theirs.as_ref(), before.as_ref()));
        }
        changes.extend(dependencies(file, lost, base));
        let said = [lost, base].into_iter().filter_map(|file| file.task().metadata.as_ref());
        let names = said.flat_map(|metadata| metadata.keys().cloned());
        let names: std::collections::BTreeSet<String> = names.collect();
        for name in names.iter().filter(|name| !decides(name)) {
            let of = |file: &TaskFile| file.task().metadata(name).cloned();
            let (ours, theirs, before) = (of(file), of(lost), of(base));
            let path = ["metadata", name.as_str()];
            changes.extend(taken(&path, ours.as_ref(), theirs.as_ref(), before.as_ref()));
        }
    }
    let body = body(file, lost, base);
    if body != file.body() {
        file.set_body(&body);
        changes.push(Change::set(&["contentHash"], content_hash(file.body())));
    }
    file.edit(&changes).map_err(|error| invalid(&error.to_string()))
}

/// The change that gives a member the value of the other version, if only that one changed it.
fn taken(
    path: &[&str],
    ours: Option<&Value>,
    theirs: Option<&Value>,
    base: Option<&Value>,
) -> Option<Change> {
    let is_taken = ours == base && theirs != base;
    is_taken.then(|| match theirs {
        Some(value) => Change::set(path, value.clone()),
        None => Change::remove(path),
    })
}

/// The dependencies that one of both added, without those that one of both removed.
fn dependencies(file: &TaskFile, lost: &TaskFile, base: &TaskFile) -> Option<Change> {
    let of = |file: &TaskFile| file.task().dependencies().to_vec();
    let (ours, theirs, base) = (of(file), of(lost), of(base));
    let mut united = ours.clone();
    united.extend(theirs.iter().filter(|id| !base.contains(id) && !ours.contains(id)));
    united.retain(|id| !base.contains(id) || theirs.contains(id));
    let texts: Vec<String> = united.iter().map(ToString::to_string).collect();
    (united != ours).then(|| Change::set(&["dependsOn"], texts))
}

/// The text of the version that counts, or that of the other one if only that changed; then the
/// comments and the entries of the work log of both.
fn body(file: &TaskFile, lost: &TaskFile, base: Option<&TaskFile>) -> String {
    let parts = |file: &TaskFile| {
        let (rest, entries) = split_work_log(file.body());
        let (text, comments) = split_comments(&rest);
        (text, comments, entries)
    };
    let (ours, mut comments, mut entries) = parts(file);
    let (theirs, more_comments, more_entries) = parts(lost);
    let before = base.map(|base| parts(base).0);
    let is_theirs = before.as_ref().is_some_and(|before| *before == ours && *before != theirs);
    let is_new = |said: &TaskComment| !comments.contains(said);
    let more: Vec<TaskComment> = more_comments.into_iter().filter(is_new).collect();
    let new_entries: Vec<String> =
        more_entries.into_iter().filter(|entry| !entries.contains(entry)).collect();
    if !is_theirs && more.is_empty() && new_entries.is_empty() {
        return file.body().to_owned();
    }
    comments.extend(more);
    comments.sort_by_key(|said| said.at.time());
    entries.extend(new_entries);
    // Each begins with its time.
    entries.sort();
    let text = with_comments(if is_theirs { &theirs } else { &ours }, &comments);
    match entries.is_empty() {
        true => text,
        false => format!("{}\n\n## Work Log\n\n{}\n", text.trim_end(), entries.join("\n")),
    }
}

/// The names of what both versions still say differently, beside the members that decide.
pub(super) fn differing(kept: &TaskFile, lost: &TaskFile) -> Vec<String> {
    let of = |file: &TaskFile| file.task().metadata.clone().unwrap_or_default();
    let (ours, theirs) = (of(kept), of(lost));
    let names: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let names = names.into_iter().filter(|name| !decides(name));
    let differs = names.filter(|name| ours.get(*name) != theirs.get(*name));
    let mut found: Vec<String> = differs.map(|name| format!("metadata.{name}")).collect();
    let text = |file: &TaskFile| split_comments(&split_work_log(file.body()).0).0;
    if text(kept) != text(lost) {
        found.push("body".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(members: &str, body: &str) -> TaskFile {
        let text = format!(
            "---\nschemaVersion: 1\nid: TASK-2026-02-09-001\nproject: shop\nstatus: ready\n\
             createdAt: 2026-02-09T20:00:00.000Z\nupdatedAt: 2026-02-09T20:00:00.000Z\n\
             lastTransitionAt: 2026-02-09T20:00:00.000Z\ncreatedBy: main\n{members}---\n\n{body}\n"
        );
        TaskFile::read(&text).expect("a task")
    }

    #[test]
    fn what_only_one_changed_is_taken_over() {
        let said = |by: &str| format!("## Comments\n\n- 2026-02-09T20:0{by}:00.000Z {by}: yes\n");
        let first = "dependsOn: [TASK-2026-02-09-002]\nmetadata: {}\n";
        let base = version(&format!("title: A\npriority: normal\n{first}"), "Do it.");
        let mut ours = version(
            "title: A\npriority: high\ndependsOn: [TASK-2026-02-09-002, TASK-2026-02-09-003]\n\
             metadata: {}\n",
            &format!("Do it.\n\n{}", said("2")),
        );
        let theirs = version(
            "title: B\npriority: normal\ndependsOn: [TASK-2026-02-09-004]\nmetadata: {due: \
             2026-12-01, approval: {by: x}}\n",
            &format!("Do it well.\n\n{}", said("1")),
        );
        unite(&mut ours, &theirs, Some(&base)).expect("united");
        let task = ours.task();
        assert_eq!((task.title.as_str(), task.urgency().as_str()), ("B", "high"));
        let needed: Vec<String> = task.dependencies().iter().map(ToString::to_string).collect();
        assert_eq!(needed, ["TASK-2026-02-09-003", "TASK-2026-02-09-004"]);
        assert!(task.metadata("due").is_some() && task.metadata("approval").is_none());
        let (text, comments) = split_comments(ours.body());
        assert_eq!(text, "Do it well.");
        assert_eq!(comments.iter().map(|said| said.by.as_str()).collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(differing(&ours, &theirs), Vec::<String>::new());
    }
}
