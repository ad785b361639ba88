//! A small project, a run of it, and results for its turns.

use std::collections::BTreeMap;

use accord_contract::{Failure, Time};
use accord_runs_core::accept::{
    Acceptance, Answer, Commit, Conclusion, Inputs, Observation, Options, Want,
};
use accord_runs_core::config::Config;
use accord_runs_core::hooks::{Execution, HookChain};
use accord_runs_core::repo_decisions::RepoDecisions;
use accord_runs_core::run::{BaselineCheck, Beginning, check_assignment, init};
use accord_runs_core::state::{Baseline, State, TurnStatus};
use accord_runs_core::testing::MemoryRepository;
use accord_runs_core::{Ids, TurnId, dispatch};
use serde_json::{Value, json};

pub(crate) fn now() -> Time {
    Time::parse_iso("2026-04-20T10:00:00Z").unwrap()
}

pub(crate) fn ids(seed: u8) -> Ids {
    Ids::new([seed; 32])
}

/// A project with three phases; `change` may make another of it.
pub(crate) fn config_with(change: impl FnOnce(&mut Value)) -> Config {
    let mut document = json!({
        "schema_version": "1.0",
        "project": {"id": "shop", "name": "Shop"},
        "roles": {
            "pm": {"title": "PM", "mandate": "Plan.", "write_authority": "authoritative",
                "runtime": "hand"},
            "dev": {"title": "Dev", "mandate": "Build.", "write_authority": "authoritative",
                "runtime": "agent"},
            "qa": {"title": "QA", "mandate": "Judge.", "write_authority": "review_only",
                "runtime": "hand"}
        },
        "runtimes": {"hand": {"type": "manual"}, "agent": {"type": "local_cli",
            "command": ["agent"]}},
        "routing": {
            "planning": {"entry_role": "pm", "allowed_next_roles": ["pm", "dev", "human"],
                "exit_gate": "plan"},
            "implementation": {"entry_role": "dev", "allowed_next_roles": ["dev", "pm", "qa",
                "human"], "max_concurrent_turns": 2},
            "qa": {"entry_role": "qa", "allowed_next_roles": ["qa", "dev", "human"],
                "exit_gate": "ship"}
        },
        "gates": {
            "plan": {"requires_files": [".planning/PM_SIGNOFF.md"],
                "requires_human_approval": true},
            "ship": {"requires_files": [".planning/ship-verdict.md"],
                "requires_verification_pass": true}
        },
        "workflow_kit": {}
    });
    change(&mut document);
    Config::read(document).unwrap()
}

pub(crate) fn config() -> Config {
    config_with(|_| {})
}

/// A world with nothing in it but a configuration and a run that has begun in a phase.
pub(crate) fn world(config: Config, phase: &str) -> MemoryRepository {
    let mut document = State::idle(&config).document();
    document.insert("phase".into(), phase.into());
    let idle = State::read(document.into()).unwrap();
    let begun = init(&idle, &config, Beginning::default(), &mut ids(1), now()).unwrap();
    MemoryRepository::new(config, begun.state)
}

pub(crate) fn clean() -> BaselineCheck {
    BaselineCheck::Clean(Baseline {
        head_ref: None,
        clean: true,
        dirty: Vec::new(),
        ..Baseline::default()
    })
}

/// Assigns a turn and hands it out.
pub(crate) fn assign(world: &mut MemoryRepository, role: &str, seed: u8) -> TurnId {
    let mut ids = ids(seed);
    let length = world.history.len() as u64;
    let ready = check_assignment(&world.state, &world.config, role, clean(), length).unwrap();
    let none = accord_runs_core::hooks::HookReport::none(
        accord_runs_core::hooks::HookPhase::BeforeAssignment,
    );
    let (change, turn) = ready.confirm(&none, &mut ids, now()).unwrap();
    world.state = change.state;
    let dispatched =
        dispatch::mark(&world.state, turn.id(), TurnStatus::Dispatched, &mut ids, now()).unwrap();
    world.state = dispatched.state;
    turn.id().clone()
}

/// A sound result of a turn.
pub(crate) fn result(world: &MemoryRepository, turn: &TurnId) -> Value {
    let active = world.state.turn(turn).unwrap();
    let review = active.role() == "qa";
    json!({
        "schema_version": "1.0",
        "run_id": world.state.run_id().unwrap().as_str(),
        "turn_id": turn.as_str(),
        "role": active.role(),
        "runtime_id": active.runtime_id(),
        "status": "completed",
        "summary": "Did the work.",
        "decisions": [],
        "objections": if review {
            json!([{"id": "OBJ-001", "severity": "low", "statement": "Names could be better.",
                "status": "raised"}])
        } else {
            json!([])
        },
        "files_changed": if review { json!([]) } else { json!(["src/lib.rs"]) },
        "verification": {"status": "pass", "commands": ["make test"],
                         "machine_evidence": [{"command": "make test", "exit_code": 0}]},
        "artifact": {"type": if review { "review" } else { "workspace" }},
        "proposed_next_role": "human"
    })
}

pub(crate) fn stage(world: &mut MemoryRepository, turn: &TurnId, result: &Value) {
    world.files.insert(dispatch::staging_path(turn), result.to_string());
}

/// What the world looks like to an acceptance.
#[derive(Clone, Default)]
pub(crate) struct Script {
    pub(crate) observations: Vec<Observation>,
    pub(crate) repo_decisions: Vec<serde_json::Map<String, Value>>,
    pub(crate) hooks: BTreeMap<String, Execution>,
    pub(crate) replay: Vec<Option<i64>>,
    pub(crate) options: Options,
    pub(crate) seed: u8,
    pub(crate) later_minutes: u64,
}

pub(crate) struct Run {
    pub(crate) outcome: Result<Conclusion, Failure>,
    pub(crate) commits: Vec<Commit>,
    pub(crate) wants: Vec<&'static str>,
}

/// Carries an acceptance through, as a host would.
pub(crate) fn accept(world: &mut MemoryRepository, turn: &TurnId, script: &Script) -> Run {
    let mut run = Run {
        outcome: Err(Failure::new(accord_contract::codes::Code::Usage, "never began")),
        commits: Vec::new(),
        wants: Vec::new(),
    };
    let inputs = Inputs {
        config: world.config.clone(),
        state: world.state.clone(),
        index: world.index(),
        repo_decisions: RepoDecisions::new(script.repo_decisions.clone()),
    };
    let at = now().minutes_later(script.later_minutes);
    let (options, seed) = (script.options.clone(), ids(script.seed.max(40)));
    let mut machine = match Acceptance::begin(inputs, Some(turn), options, seed, at) {
        Ok(machine) => machine,
        Err(failure) => {
            run.outcome = Err(failure);
            return run;
        }
    };
    let mut seen = script.observations.iter();
    loop {
        let answer = match machine.want().clone() {
            Want::Staging(paths) => {
                run.wants.push("staging");
                Answer::Staging(paths.into_iter().find_map(|path| {
                    let bytes = world.files.get(&path)?.clone().into_bytes();
                    Some((path, bytes))
                }))
            }
            Want::Hooks(batch) => {
                run.wants.push(batch.phase.as_str());
                let mut chain = HookChain::new(batch);
                while let Some(hook) = chain.next() {
                    let ran = script.hooks[&hook.name].clone();
                    chain.record(&ran, at);
                }
                Answer::Hooks(chain.finish().unwrap())
            }
            Want::Clean(paths) => {
                run.wants.push("clean");
                for path in paths {
                    world.files.remove(path.as_str());
                }
                Answer::Cleaned
            }
            Want::Observe { .. } => {
                run.wants.push("observe");
                Answer::Observed(seen.next().cloned().unwrap_or_default())
            }
            Want::Files(paths) => {
                run.wants.push("files");
                let found = paths.iter().filter_map(|path| {
                    Some((path.to_string(), world.files.get(path.as_str())?.clone()))
                });
                Answer::Files(found.collect())
            }
            Want::Replay(_) => {
                run.wants.push("replay");
                Answer::Replayed(script.replay.clone())
            }
            Want::Commit(commit) => {
                run.wants.push("commit");
                world.apply(&commit).unwrap();
                run.commits.push(*commit);
                Answer::Committed
            }
            Want::Done(outcome) => {
                run.wants.push("done");
                run.outcome = Ok(*outcome);
                return run;
            }
        };
        machine.answer(answer, at).unwrap();
    }
}

impl Run {
    pub(crate) fn accepted(&self) -> &accord_runs_core::accept::Accepted {
        match &self.outcome {
            Ok(Conclusion::Accepted(accepted)) => accepted,
            other => panic!("not accepted: {other:?}"),
        }
    }

    pub(crate) fn refused(&self) -> &Failure {
        match &self.outcome {
            Ok(Conclusion::Refused { failure, .. }) | Err(failure) => failure,
            other => panic!("not refused: {other:?}"),
        }
    }

    /// The types of the events that were written, in order.
    pub(crate) fn events(&self) -> Vec<String> {
        let mut events = Vec::new();
        for commit in &self.commits {
            for write in &commit.writes {
                if let accord_runs_core::accept::Write::Append { record, line } = write
                    && *record == accord_runs_core::accept::Record::Events
                {
                    assert_eq!(
                        accord_runs_core::event::check(&Value::Object(line.clone())),
                        Vec::<String>::new()
                    );
                    events.push(line["event_type"].as_str().unwrap().to_owned());
                }
            }
        }
        events
    }
}
