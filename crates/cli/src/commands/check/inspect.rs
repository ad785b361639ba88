//! Inspecting the cases without running them.

use std::path::Path;

use accord_contract::{Code, Failure};
use accord_kit::{Corpus, Filter, Protocol};

use crate::error::CliError;
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn protocols(corpus: &Corpus) -> Result<Exit, CliError> {
    let mut output = Output::stdout();
    for protocol in corpus.protocols() {
        output.line(protocol.name())?;
    }
    output.finish()?;
    Ok(Exit::Yes)
}

pub(super) fn list(
    protocol: &Protocol,
    filter: Option<&Filter>,
    levels: &[String],
    profile: Option<&str>,
) -> Result<Exit, CliError> {
    if let Some(level) = levels.iter().find(|level| !protocol.levels().contains(*level)) {
        return Err(CliError::new(Code::KitNoCaseRan, format!("no case has the level {level:?}")));
    }
    if let Some(profile) = profile.filter(|name| !protocol.profiles().contains(*name)) {
        return Err(CliError::new(
            Code::KitNoCaseRan,
            format!("no case belongs to the profile {profile:?}"),
        ));
    }
    let mut output = Output::stdout();
    let chosen = |case: &&accord_kit::Case| {
        case.profile.as_deref() == profile
            && filter.is_none_or(|filter| filter.matches(case))
            && (levels.is_empty() || levels.contains(&case.level()))
    };
    for case in protocol.cases().iter().filter(chosen) {
        output.line(format!("{}  [{}] {}", case.id, case.strength, case.title))?;
    }
    output.finish()?;
    Ok(Exit::Yes)
}

pub(super) fn show(protocol: &Protocol, id: &str) -> Result<Exit, CliError> {
    let case = protocol.case(id).map_err(Failure::from)?;
    let mut output = Output::stdout();
    if let Some(source) = protocol.source(case) {
        output.line(source.trim_end())?;
    }
    for id in &case.clauses {
        if let Some(clause) = protocol.clause(id) {
            output.line(format!("\n{} [{}] {}", clause.id, clause.strength, clause.text))?;
            output.line(format!("  from: {}", clause.source))?;
        }
    }
    output.finish()?;
    Ok(Exit::Yes)
}

pub(super) fn clauses(protocol: &Protocol) -> Result<Exit, CliError> {
    let uncovered = protocol.uncovered_clauses();
    let mut output = Output::stdout();
    for clause in protocol.clauses() {
        let cases = protocol.cases();
        let citing = cases.iter().filter(|case| case.clauses.contains(&clause.id));
        output.line(format!(
            "{:>4}  {} [{}] {}",
            citing.count(),
            clause.id,
            clause.strength,
            clause.text
        ))?;
    }
    output.line(format!(
        "\n{} clauses, {} without a case",
        protocol.clauses().len(),
        uncovered.len()
    ))?;
    for clause in &uncovered {
        output.line(format!("no case: {}", clause.id))?;
    }
    output.finish()?;
    Ok(Exit::from_answer(uncovered.is_empty()))
}

pub(super) fn export(protocol: &Protocol, folder: &Path) -> Result<Exit, CliError> {
    protocol.export(folder).map_err(Failure::from)?;
    let mut output = Output::stdout();
    output.line(format!(
        "wrote {} cases of {} to {}",
        protocol.cases().len(),
        protocol.name(),
        folder.display()
    ))?;
    output.finish()?;
    Ok(Exit::Yes)
}
