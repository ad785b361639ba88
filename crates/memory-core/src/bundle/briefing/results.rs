//! Results of attempts that Accord kept, and whose worker left a package itself: they are one line,
//! the one of the worker, which says more.

use std::collections::{BTreeMap, BTreeSet};

use super::rows::{BriefingPackage, BriefingRows};
use crate::PackageId;
use crate::package::flow::is_result;

/// Which packages are results, and what their workers left.
pub(super) struct Results<'a> {
    own: BTreeMap<&'a PackageId, &'a BriefingPackage<'a>>,
    kept: BTreeSet<&'a PackageId>,
}

impl<'a> Results<'a> {
    pub(super) fn of(rows: &'a BriefingRows<'a>) -> Self {
        let lists = [&rows.asked, &rows.standing, &rows.reviews, &rows.work];
        let all = lists.into_iter().flat_map(|list| &list.rows).chain(&rows.parents);
        let all = all.chain(&rows.handoffs);
        let known: BTreeMap<_, _> = all.map(|row| (&row.fields.package_id, row)).collect();
        let results = known.values().copied().filter(|row| is_result(row.fields));
        let own: BTreeMap<_, _> = results
            .filter_map(|result| {
                let own = known.get(result.outline.parent.as_ref()?)?;
                says_no_more(result, own).then_some((&result.fields.package_id, *own))
            })
            .collect();
        let kept = own.values().map(|own| &own.fields.package_id).collect();
        Self { own, kept }
    }

    /// What is shown for a package: of a result, what its worker left.
    pub(super) fn shown(&self, row: &'a BriefingPackage<'a>) -> &'a BriefingPackage<'a> {
        self.own.get(&row.fields.package_id).copied().unwrap_or(row)
    }

    /// Whether the result of the attempt that left a package is kept: its work is done.
    pub(super) fn has(&self, row: &BriefingPackage<'_>) -> bool {
        self.kept.contains(&row.fields.package_id)
    }
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
