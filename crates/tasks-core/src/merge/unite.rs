//! Bringing two versions of one task together. The version that counts keeps what it says; what
//! only the other one changed since both were the same is taken over, and nothing that somebody
//! said is dropped.

use accord_contract::Value;

use super::STATE;
use crate::task::{
    FileError, TaskComment, TaskFile, content_hash, split_comments, split_work_log, with_comments,
};
use crate::yaml::Change;

/// The members of a front matter that a version can get from the other one.
const MEMBERS: [&str; 6] = ["title", "priority", "routing", "sla", "resource", "parentId"];

/// Takes over what only the version that lost changed. `base` is the version that both come from.
pub(super) fn unite(
    file: &mut TaskFile,
    lost: &TaskFile,
    base: Option<&TaskFile>,
) -> Result<(), FileError> {
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
        for name in names.iter().filter(|name| !STATE.contains(&name.as_str())) {
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
    if lost.task().updated_at.time() > file.task().updated_at.time() {
        changes.push(Change::set(&["updatedAt"], lost.task().updated_at.to_string()));
    }
    file.edit(&changes)
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
