//! Inspecting the cases without running them.

use std::path::Path;

use accord_contract::{Code, Failure};
use accord_kit::{Corpus, Filter, Protocol};

use crate::{CliError, Exit, Result, print_line, print_page};

pub(super) fn protocols(corpus: &Corpus) -> Result<Exit> {
    print_page(|page| corpus.protocols().for_each(|protocol| page.line(protocol.name())))
}

pub(super) fn list(
    protocol: &Protocol,
    filter: Option<&Filter>,
    levels: &[String],
    profile: Option<&str>,
) -> Result<Exit> {
    if let Some(level) = levels.iter().find(|level| !protocol.levels().contains(*level)) {
        return Err(CliError::new(Code::KitNoCaseRan, format!("no case has the level {level:?}")));
    }
    if let Some(profile) = profile.filter(|name| !protocol.profiles().contains(*name)) {
        let message = format!("no case belongs to the profile {profile:?}");
        return Err(CliError::new(Code::KitNoCaseRan, message));
    }
    let chosen = |case: &&accord_kit::Case| {
        case.profile.as_deref() == profile
            && filter.is_none_or(|filter| filter.matches(case))
            && (levels.is_empty() || levels.contains(&case.level()))
    };
    print_page(|page| {
        for case in protocol.cases().iter().filter(chosen) {
            page.line(format!("{}  [{}] {}", case.id, case.strength, case.title));
        }
    })
}

pub(super) fn show(protocol: &Protocol, id: &str) -> Result<Exit> {
    let case = protocol.case(id).map_err(Failure::from)?;
    print_page(|page| {
        if let Some(source) = protocol.source(case) {
            page.line(source.trim_end());
        }
        for clause in case.clauses.iter().filter_map(|id| protocol.clause(id)) {
            page.line(format!("\n{} [{}] {}", clause.id, clause.strength, clause.text));
            page.line(format!("  from: {}", clause.source));
        }
    })
}

pub(super) fn clauses(protocol: &Protocol) -> Result<Exit> {
    let (clauses, uncovered) = (protocol.clauses(), protocol.uncovered_clauses());
    print_page(|page| {
        for clause in clauses {
            let cases = protocol.cases().iter();
            let citing = cases.filter(|case| case.clauses.contains(&clause.id)).count();
            let (id, strength) = (&clause.id, clause.strength);
            page.line(format!("{citing:>4}  {id} [{strength}] {}", clause.text));
        }
        page.line(format!("\n{} clauses, {} without a case", clauses.len(), uncovered.len()));
        uncovered.iter().for_each(|clause| page.line(format!("no case: {}", clause.id)));
    })?;
    Ok(Exit::from_answer(uncovered.is_empty()))
}

pub(super) fn export(protocol: &Protocol, folder: &Path) -> Result<Exit> {
    protocol.export(folder).map_err(Failure::from)?;
    let (cases, name) = (protocol.cases().len(), protocol.name());
    print_line(format!("wrote {cases} cases of {name} to {}", folder.display()))
}
