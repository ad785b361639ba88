//! Projection: an accepted turn of a repository is recorded by the coordinator.

use accord_contract::{Code, Failure, Object, Time};

use super::history::{self, LineType};
use super::send_back::owed_repos;
use super::{Barriers, CoordinatorConfig, CoordinatorState, Effect};
use crate::{Ids, RepoPath, Result, build, doc, rule};

#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    pub reference: String,
    /// The history line; `None` when the turn was projected before.
    pub line: Option<Object>,
    pub effects: Vec<Effect>,
    pub ledger: Vec<Object>,
    /// The barriers after the change.
    pub barriers: Barriers,
}

#[derive(Clone, Copy, Debug)]
pub struct Initiative<'a> {
    pub config: &'a CoordinatorConfig,
    pub state: &'a CoordinatorState,
    pub barriers: &'a Barriers,
    pub history: &'a [Object],
}

impl Initiative<'_> {
    /// The repositories that get a turn because a gate was sent back.
    pub fn owed_repos(&self) -> Vec<String> {
        owed_repos(self.history)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    pub repo: &'a str,
    pub workstream: &'a str,
    /// The absolute path of the repository, to resolve absolute file names.
    pub root: Option<&'a str>,
    pub accepted: &'a Object,
}

/// Projects an accepted turn. Fails with `projection_failed` when the workstream is unknown, does
/// not include the repository, or the turn has no id. Fails with `cross_repo_write_violation` when
/// the turn changed a file outside its repository.
///
/// Clauses: AX-CO-PROJECTION, AX-CO-MEMBER, AX-CO-ONCE.
pub fn project(
    initiative: &Initiative<'_>,
    offer: &Offer<'_>,
    ids: &mut Ids,
    now: Time,
) -> Result<Projection> {
    let Initiative { config, state, barriers, history } = *initiative;
    let Offer { repo, workstream, root, accepted } = *offer;
    let unknown = |what: String| Failure::new(Code::XchainProjectionFailed, what);
    let stream = config.workstream(workstream);
    let stream = stream.ok_or_else(|| unknown(format!("there is no workstream {workstream}")))?;
    let member = stream.repos.iter().any(|name| name == repo);
    if rule!(!member; AnyRepositoryCounts => false) {
        let its = stream.repos.join(", ");
        let message = format!("{repo} is not a repository of {workstream}, which has {its}");
        return Err(unknown(message));
    }
    let turn = doc::History::TURN_ID.filled(accepted);
    let turn = turn.ok_or_else(|| unknown("the accepted turn has no turn_id".into()))?;
    // This precedes the repetition, so that no earlier line hides a violation.
    check_files(repo, root, accepted)?;
    let known = known_projection(history, repo, workstream, turn);
    if let Some(known) = rule!(known; TakenOverAgain => None) {
        return Ok(Projection {
            reference: known.to_owned(),
            line: None,
            effects: Vec::new(),
            ledger: Vec::new(),
            barriers: barriers.clone(),
        });
    }
    let reference = format!("proj_{workstream}_{repo}_{}", ids.hex(4));
    let members = [
        doc::MultiHistory::PROJECTION_REF.to(reference.as_str()),
        doc::MultiHistory::WORKSTREAM_ID.to(workstream),
        doc::MultiHistory::REPO_ID.to(repo),
        doc::MultiHistory::REPO_RUN_ID.to(state.repo_run(repo)),
        doc::MultiHistory::REPO_TURN_ID.to(turn),
        doc::MultiHistory::SUMMARY.to(doc::History::SUMMARY.copy(accepted)),
        doc::MultiHistory::FILES_CHANGED.to(doc::History::FILES_CHANGED.copy(accepted)),
        doc::MultiHistory::DECISIONS.to(doc::History::DECISIONS.copy(accepted)),
        doc::MultiHistory::VERIFICATION.to(doc::History::VERIFICATION.copy(accepted)),
    ];
    let line = history::line(LineType::AcceptanceProjection, state, now, members);
    // The barriers must see the new projection, which is not written yet.
    let mut later = history.to_vec();
    later.push(line.clone());
    let mut barriers = barriers.clone();
    let effects = barriers.recompute(stream, &later);
    let causation = build([
        ("projection_ref", reference.as_str().into()),
        ("repo_id", repo.into()),
        ("repo_turn_id", turn.into()),
    ]);
    let ledger = effects.iter().map(|effect| effect.line(causation.clone(), now)).collect();
    Ok(Projection { reference, line: Some(line), effects, ledger, barriers })
}

/// The reference of the projection of a turn, if it was projected before.
fn known_projection<'a>(
    history: &'a [Object],
    repo: &str,
    workstream: &str,
    turn: &str,
) -> Option<&'a str> {
    let same = |line: &&Object| {
        history::is(line, LineType::AcceptanceProjection)
            && doc::MultiHistory::REPO_ID.get(line) == Some(repo)
            && doc::MultiHistory::WORKSTREAM_ID.get(line) == Some(workstream)
            && doc::MultiHistory::REPO_TURN_ID.get(line) == Some(turn)
    };
    history.iter().find(same).and_then(|line| doc::MultiHistory::PROJECTION_REF.get(line))
}

/// Checks that every file is inside the repository, by its name.
///
/// Clauses: AX-CO-ISOLATION.
fn check_files(repo: &str, root: Option<&str>, accepted: &Object) -> Result<()> {
    for file in doc::History::FILES_CHANGED.items(accepted) {
        let name = file.as_str().unwrap_or_default();
        let below = root.and_then(|root| {
            // Without the separator, a sibling folder with a longer name would count as inside.
            name.strip_prefix(root.trim_end_matches('/'))?.strip_prefix('/')
        });
        let outside = RepoPath::parse(below.unwrap_or(name)).is_err();
        if rule!(
            outside;
            SimilarNameInside => outside && !name.starts_with(&format!("../{repo}"));
            WritesAnywhere => false
        ) {
            let message = format!("Cross-repo write violation: {file} is not inside {repo}");
            return Err(Failure::new(Code::XchainCrossRepoWriteViolation, message)
                .with("repo_id", repo)
                .with("path", file.clone()));
        }
    }
    Ok(())
}
