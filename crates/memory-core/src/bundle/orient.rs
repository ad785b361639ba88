//! The orientation for an actor that starts to work: project, recent packages, facts, questions.

use accord_contract::Time;

use super::budget::{Pieces, Plan, SOURCES};
use super::questions::OpenQuestions;
use crate::query::OrientQuery;
use crate::text::ObjectText;
use crate::{PackageId, Project};

#[derive(Clone, Debug)]
pub struct OrientRows<'a> {
    pub project: &'a Project,
    /// The texts of the newest packages of the window, newest first, as they are sent; at most
    /// the limit of the query.
    pub packages: &'a [&'a str],
    /// The marks of superseded packages, in the order of the packages.
    pub marks: &'a [Option<Mark<'a>>],
    pub more_packages: bool,
    /// The ids of damaged packages of the window and of damaged facts, which are left out.
    pub damaged: &'a [String],
    /// The texts of the current facts, the most recently asserted first, as they are sent.
    pub facts: &'a [&'a str],
    pub questions: &'a OpenQuestions,
}

/// The mark of a superseded package. It stands beside the packages, whose texts never change.
#[derive(Clone, Copy, Debug)]
pub struct Mark<'a> {
    pub package_id: &'a PackageId,
    /// The packages that supersede it, newest first.
    pub by: &'a [PackageId],
}

/// Clauses: AGENTIC-R-099, AGENTIC-R-104, AGENTIC-A-29.
pub fn orient(rows: &OrientRows<'_>, query: &OrientQuery, now: Time) -> String {
    let pieces = Pieces::of(rows);
    let plan = match query.max_tokens {
        None => Plan::everything(&pieces),
        Some(tokens) => Plan::within(&pieces, tokens as usize),
    };
    let mut bundle = ObjectText::with_capacity(pieces.bytes())
        .raw("project", if plan.words { &pieces.project } else { &pieces.bare_project })
        .list("recent_packages", chosen(pieces.packages, &plan.packages))
        .list("active_facts", chosen(pieces.facts, &plan.facts))
        .list("open_questions", chosen(&pieces.questions, &plan.questions))
        .value("window_days", query.window_days)
        .value("generated_at", now.to_string());
    let marks: Vec<&str> =
        chosen(&pieces.marks, &plan.packages).filter(|mark| !mark.is_empty()).collect();
    if !marks.is_empty() {
        bundle = bundle.raw("x-superseded", &format!("{{{}}}", marks.join(",")));
    }
    if plan.sources && !pieces.sources.is_empty() {
        bundle = bundle.list(SOURCES, chosen(&pieces.sources, &plan.questions));
    }
    if !rows.damaged.is_empty() {
        let damaged = chosen(&pieces.damaged, &plan.damaged);
        bundle = bundle.list("x-integrity_warnings", damaged);
    }
    plan.left_out(rows, &pieces).add_to(bundle).finish()
}

fn chosen<'p>(items: &'p [impl AsRef<str>], taken: &'p [bool]) -> impl Iterator<Item = &'p str> {
    let taken = items.iter().zip(taken).filter(|(_, taken)| **taken);
    taken.map(|(item, _)| item.as_ref())
}
