//! Results of attempts that Accord kept, and whose worker left a package itself: they are one line,
//! the one of the worker, which says more.

use std::collections::BTreeMap;

use super::rows::{BriefingPackage, BriefingRows};
use super::shorten::{one_line, shorten};
use crate::PackageId;
use crate::package::flow::is_result;

/// How the title of the result of a task begins.
const DONE: &str = "Done: ";
/// The longest title of a task beside that of a package, in characters.
const TITLE: usize = 80;

/// Which packages are results, and what their workers left.
pub(super) struct Results<'a> {
    own: BTreeMap<&'a PackageId, &'a BriefingPackage<'a>>,
    kept: BTreeMap<&'a PackageId, &'a BriefingPackage<'a>>,
}

impl<'a> Results<'a> {
    pub(super) fn of(rows: &'a BriefingRows<'a>) -> Self {
        let lists = [&rows.asked, &rows.standing, &rows.reviews, &rows.work];
        let all = lists.into_iter().flat_map(|list| &list.rows).chain(&rows.parents);
        let all = all.chain(&rows.handoffs);
        let known: BTreeMap<_, _> = all.map(|row| (&row.fields.package_id, row)).collect();
        let results = known.values().copied().filter(|row| is_result(row.fields));
        let (mut own, mut kept) = (BTreeMap::new(), BTreeMap::new());
        for result in results {
            let parent = result.outline.parent.as_ref().and_then(|parent| known.get(parent));
            if let Some(left) = parent.copied().filter(|left| says_no_more(result, left)) {
                own.insert(&result.fields.package_id, left);
                kept.insert(&left.fields.package_id, result);
            }
        }
        Self { own, kept }
    }

    /// What is shown for a package: of a result, what its worker left.
    pub(super) fn shown(&self, row: &'a BriefingPackage<'a>) -> &'a BriefingPackage<'a> {
        self.own.get(&row.fields.package_id).copied().unwrap_or(row)
    }

    /// The result of the attempt that left a package, if it is kept: its work is done.
    pub(super) fn of_left(&self, row: &BriefingPackage<'_>) -> Option<&'a BriefingPackage<'a>> {
        self.kept.get(&row.fields.package_id).copied()
    }
}

/// What was done, as the title of the result of a task says it, if the title of what its worker
/// left does not: an agent may give its package any title.
pub(super) fn task_of(result: &BriefingPackage<'_>, left: &BriefingPackage<'_>) -> Option<String> {
    let title = one_line(result.fields.title.as_str());
    let title = title.strip_prefix(DONE)?;
    // Its end is the id of the task.
    let title = title.rsplit_once(" (").map_or(title, |(title, _)| title);
    let left = one_line(left.fields.title.as_str()).to_lowercase();
    (!left.contains(&title.to_lowercase())).then(|| shorten(title, TITLE))
}

/// Whether every decision of a result is also one of the worker. A result has the reason of a
/// decision behind it.
fn says_no_more(result: &BriefingPackage<'_>, own: &BriefingPackage<'_>) -> bool {
    let own = own.fields.decisions_made();
    let is_known = |decision: &String| {
        let mut rest = own.iter().filter_map(|one| decision.strip_prefix(one.trim()));
        rest.any(|rest| rest.trim().is_empty() || rest.starts_with(" ("))
    };
    result.fields.decisions_made().iter().all(is_known)
}
