//! Checks that facts agree with their rows, and that those of one subject and predicate do not
//! overlap.

use accord_base::ProjectId;
use accord_contract::Failure;
use accord_memory_core::fact::{Span, check_chain};
use accord_store::{FactKey, FactQuery, FactRow, ReadUnit, When};

use super::{PAGE, RESTORE, Suspect, Verification};
use crate::{UnitResult, load};

impl Verification {
    pub(super) fn facts(&mut self, project: &ProjectId) -> UnitResult<()> {
        let mut after = None;
        let mut last: Option<FactRow> = None;
        while self.goes_on() {
            let page = self
                .noting(|unit| Ok(unit.facts(project, &FactQuery::every(after.as_ref(), PAGE))?))?;
            let Some(end) = page.last() else { break };
            after = Some(end.position());
            for row in page {
                self.report.facts += 1;
                if let Err(failure) = load::fact_of(&row) {
                    let id = row.fact_id.as_str();
                    self.advise(Suspect::Fact, project, id, &failure, RESTORE);
                }
                let key = |row: &FactRow| (row.subject.clone(), row.predicate.clone());
                let chained = last.as_ref().filter(|last| key(last) == key(&row));
                let beside: Vec<_> = chained.into_iter().chain([&row]).map(span).collect();
                // The list may have changed between two pages, so this is only a suspicion.
                if check_chain(&beside).is_err() {
                    self.chain(project, &row)?;
                }
                // A fact that was never valid overlaps nothing; its neighbour stays the one before.
                if !row.never_held() || chained.is_none() {
                    last = Some(row);
                }
            }
        }
        Ok(())
    }

    /// Checks a whole chain on one snapshot, because it may change between two pages.
    fn chain(&mut self, project: &ProjectId, suspect: &FactRow) -> UnitResult<()> {
        let key = FactKey { subject: &suspect.subject, predicate: &suspect.predicate };
        let verdict = self.read(|unit| chain(unit, project, key))?;
        if let Err(failure) = verdict {
            let id = suspect.fact_id.as_str();
            self.advise(Suspect::Chain, project, id, &failure, RESTORE);
        }
        Ok(())
    }
}

fn chain(unit: &dyn ReadUnit, id: &ProjectId, key: FactKey<'_>) -> UnitResult<Result<(), Failure>> {
    let mut after = None;
    let mut last: Option<Span> = None;
    loop {
        let query = FactQuery {
            subject: Some(key.subject),
            predicate: Some(key.predicate),
            when: When::Ever,
            after: after.as_ref(),
            limit: PAGE,
        };
        let page = unit.facts(id, &query)?;
        let Some(end) = page.last() else { return Ok(Ok(())) };
        after = Some(end.position());
        for row in &page {
            let span = span(row);
            let beside: Vec<_> = last.iter().cloned().chain([span.clone()]).collect();
            if let Err(failure) = check_chain(&beside) {
                return Ok(Err(load::integrity(failure.message)));
            }
            if !span.is_empty() {
                last = Some(span);
            }
        }
    }
}

fn span(row: &FactRow) -> Span {
    Span { from: row.valid_from.clone(), to: row.valid_to.clone() }
}
