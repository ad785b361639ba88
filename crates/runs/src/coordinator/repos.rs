//! Reads the repositories of an initiative.

use std::path::PathBuf;

use accord_contract::{Code, Failure, Object};
use accord_runs_core::Result;
use accord_runs_core::coordinator::{
    Barriers, CoordinatorConfig, CoordinatorProblem, CoordinatorState, Repo, RepoView, RepoViews,
    barriers_path,
};

use super::{Coordinator, MAX_DOCUMENT};
use crate::{Reading, RecordFile, Repository, Runs, own_path};

pub(super) struct ChildRepo {
    pub(super) repo: Repo,
    pub(super) place: PathBuf,
    /// Its services, or the reason why it cannot be opened.
    pub(super) runs: Result<Runs, CoordinatorProblem>,
}

/// When a repository is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum When {
    /// Before the initiative starts: a repository without a run is idle.
    Before,
    /// During the initiative: a missing run is an error.
    During,
}

impl Coordinator {
    pub(super) fn children(&self, config: &CoordinatorConfig) -> Vec<ChildRepo> {
        let mut children: Vec<ChildRepo> = Vec::new();
        for repo in config.repos() {
            let mut place = self.root().join(&repo.path);
            let mut runs = self.child(repo, &place);
            let root = runs.as_ref().ok();
            let root = root.map(|runs| runs.repository().root().to_path_buf());
            // Two entries with different paths can be one folder.
            let twin = children.iter().find(|other| {
                let other = other.runs.as_ref().ok();
                root.is_some() && other.map(|runs| runs.repository().root()) == root.as_deref()
            });
            if let Some(twin) = twin {
                let message = format!("{} and {} are the same folder", twin.repo.id, repo.id);
                runs = Err(CoordinatorProblem::new("repo_path_invalid", message));
            }
            place = root.unwrap_or(place);
            children.push(ChildRepo { repo: repo.clone(), place, runs });
        }
        children
    }

    fn child(&self, repo: &Repo, place: &PathBuf) -> Result<Runs, CoordinatorProblem> {
        let problem = |code: &str, why: &str| {
            CoordinatorProblem::new(code, format!("{}: {} {why}", repo.id, place.display()))
        };
        let unreadable = |why: String| problem("repo_path_unreadable", &why);
        match std::fs::metadata(place) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(problem("repo_path_missing", "is not there"));
            }
            Err(error) => return Err(unreadable(error.to_string())),
            Ok(found) if !found.is_dir() => {
                return Err(problem("repo_path_not_directory", "is no folder"));
            }
            Ok(_) => {}
        }
        let repository = Repository::open(place).map_err(|error| unreadable(error.to_string()))?;
        if !repository.is_governed().map_err(|error| unreadable(error.to_string()))? {
            let why = "has no agentxchain.json; create it with `accord run init`";
            return Err(problem("repo_not_governed", why));
        }
        Ok(Runs::on(repository, self.environment.clone(), Reading::Full))
    }

    /// The barriers of the workspace. Fails with `coordinator_state_invalid` if they are damaged.
    pub fn barriers(&self) -> Result<Barriers> {
        let path = own_path(&barriers_path())?;
        let bytes = self.workspace.read(&path, MAX_DOCUMENT)?;
        let Some(bytes) = bytes else { return Ok(Barriers::default()) };
        let document = accord_canon::read(&bytes).map_err(Failure::from);
        let read = document.and_then(|document| Barriers::read(&document));
        read.map_err(|failure| {
            let message = format!("{path}: {}", failure.message);
            let code = Code::XchainCoordinatorStateInvalid;
            Failure::new(code, message).with("path", path.as_str())
        })
    }

    pub(super) fn lines(&self, file: RecordFile, state: &CoordinatorState) -> Result<Vec<Object>> {
        let lines = self.workspace.objects(file)?;
        let is_own = |line: &Object| state.owns_line(line);
        Ok(lines.filter(|line| line.as_ref().map_or(true, is_own)).collect::<Result<_, _>>()?)
    }
}

/// The views of all repositories. `state` names the runs that belong to the initiative; lines of
/// other runs are ignored.
pub(super) fn views(
    children: &[ChildRepo],
    state: Option<&CoordinatorState>,
    when: When,
) -> Result<RepoViews> {
    let mut views = RepoViews::new();
    for child in children {
        let id = &child.repo.id;
        let known = state.and_then(|state| state.repo_run(id));
        let view = match &child.runs {
            Ok(runs) => view(runs, known, when).map_err(|failure| in_repo(id, failure))?,
            Err(_) => RepoView::default(),
        };
        views.insert(id.clone(), view);
    }
    Ok(views)
}

pub(super) fn in_repo(repo: &str, mut failure: Failure) -> Failure {
    failure.message = format!("{repo}: {}", failure.message);
    failure.with("repo_id", repo)
}

fn view(runs: &Runs, known: Option<&str>, when: When) -> Result<RepoView> {
    let repository = runs.repository();
    let state = match when {
        When::Before => Some(runs.state()?),
        When::During => repository.state().ok().flatten(),
    };
    let mut history = Vec::new();
    if known.is_some() {
        let lines = repository.objects(RecordFile::History)?;
        let is_own = |line: &Object| accord_runs_core::history::run_id(line) == known;
        let lines = lines.filter(|line| line.as_ref().map_or(true, is_own));
        history = lines.collect::<Result<_, _>>()?;
    }
    Ok(RepoView { config: runs.config().ok(), state, history })
}
