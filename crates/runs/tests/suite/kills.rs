//! An operation that is killed at any write is done completely or not at all, and the next one
//! finds the repository ready.
//!
//! Each operation runs in its own process, which is killed at one of its writes. Time and ids are
//! fixed, so that the files can be compared byte by byte with those before the operation and with
//! those after a complete one. One acceptance is killed at each of its writes. The other operations
//! are killed at every fourth write, or at each one with `ACCORD_KILL_ROUNDS`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use accord_contract::{Code, Failure, Time};
use accord_runs::operations::{Accept, ApplyTo, PendingApproval, ProposalFilter, Reject, SendBack};
use accord_runs::repository::Repository;
use accord_runs::{Environment, Reading, Runs};
use accord_runs_core::testing::consent;
use accord_trees::Root;
use accord_trees::testing::AbortAfter;
use serde_json::json;

use crate::support::{PLANNING, Repo, accept, dispatched, plan, result, stage};

/// Where the process that is going to be killed works, what it does, and at which write it ends.
const FOLDER: &str = "ACCORD_TEST_KILL_RUN";
const OPERATION: &str = "ACCORD_TEST_KILL_OPERATION";
const WRITES: &str = "ACCORD_TEST_KILL_WRITES";

/// The file of a proposal.
const APPLIED: &str = "proposed.txt";

/// What is killed.
struct Operation {
    name: &'static str,
    prepare: fn(&Repo),
    act: fn(&Runs) -> Result<(), Failure>,
    /// The code with which a whole operation refuses; none where it does what is asked.
    refusal: Option<Code>,
    /// Every how many writes it is killed.
    stride: u64,
}

const OPERATIONS: [Operation; 10] = [
    Operation {
        name: "accept",
        prepare: |repo| staged(repo, false),
        act: accept_staged,
        refusal: None,
        stride: 1,
    },
    Operation {
        name: "accept what waits for a gate",
        prepare: |repo| staged(repo, true),
        act: accept_staged,
        refusal: None,
        stride: 4,
    },
    Operation {
        name: "accept what is no result",
        prepare: |repo| {
            let turn = dispatched(&repo.started(), "pm");
            repo.write(&turn.staging, "{}");
        },
        act: accept_staged,
        refusal: Some(Code::XchainValidationFailed),
        stride: 4,
    },
    Operation {
        name: "reject",
        prepare: |repo| staged(repo, false),
        act: |runs| {
            let reject = Reject { reason: "not so".into(), ..Reject::default() };
            runs.reject(&reject).map(drop)
        },
        refusal: None,
        stride: 4,
    },
    Operation {
        name: "approve a transition",
        prepare: |repo| waiting(repo, "phase_transition_request", json!("implementation")),
        act: |runs| runs.approve(PendingApproval::Transition, &consent()).map(drop),
        refusal: None,
        stride: 4,
    },
    Operation {
        name: "approve the completion",
        prepare: |repo| {
            repo.configure(|config| {
                let planning = config["routing"]["planning"].clone();
                config["routing"] = json!({"planning": planning});
            });
            waiting(repo, "run_completion_request", json!(true));
        },
        act: |runs| runs.approve(PendingApproval::Completion, &consent()).map(drop),
        refusal: None,
        stride: 4,
    },
    Operation {
        name: "send back",
        prepare: |repo| waiting(repo, "phase_transition_request", json!("implementation")),
        act: |runs| {
            let given = SendBack { reason: "not so".into(), role: None };
            runs.send_back(&given, &consent()).map(drop)
        },
        refusal: None,
        stride: 4,
    },
    Operation {
        name: "apply a proposal",
        prepare: |repo| {
            let change = json!({"path": APPLIED, "action": "create", "content": "new\n"});
            waiting(repo, "proposed_changes", json!([change]));
        },
        act: |runs| {
            let waiting = runs.proposals(ProposalFilter::Waiting)?;
            runs.apply_proposal(&waiting[0].proposal.turn, &consent(), ApplyTo::WorkingTree)
                .map(drop)
        },
        refusal: None,
        stride: 4,
    },
    Operation {
        name: "assign",
        prepare: |repo| drop(repo.started()),
        act: |runs| runs.assign(None).map(drop),
        refusal: None,
        stride: 4,
    },
    Operation {
        name: "escalate",
        prepare: |repo| drop(repo.started()),
        act: |runs| runs.escalate("look").map(drop),
        refusal: None,
        stride: 4,
    },
];

#[test]
fn a_killed_operation_has_happened_or_has_not() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let named = std::env::var(OPERATION).unwrap();
        let operation = OPERATIONS.iter().find(|operation| operation.name == named);
        let root = Root::open(Path::new(&folder)).unwrap();
        let disk = AbortAfter::new(root, std::env::var(WRITES).unwrap().parse().unwrap());
        let runs = Runs::on(Repository::on(Arc::new(disk)), environment(), Reading::Full);
        operation.unwrap().act_whole(&runs);
        println!("acknowledged");
        return;
    }
    for operation in &OPERATIONS {
        let each = std::env::var_os("ACCORD_KILL_ROUNDS").is_some();
        let kills = killed_everywhere(operation, if each { 1 } else { operation.stride });
        assert!(kills > 4, "{}: {kills} kills are too few to mean anything", operation.name);
    }
}

/// Kills an operation at its writes, up to the last; gives how often.
fn killed_everywhere(operation: &Operation, stride: u64) -> u64 {
    let prepared = Repo::plain();
    (operation.prepare)(&prepared);
    let before = left(&prepared);
    let whole = prepared.copy();
    operation.act_whole(&runs(&whole));
    let after = left(&whole);
    assert_ne!(before, after);
    let (mut writes, mut seen_before, mut seen_after) = (0, 0, 0);
    loop {
        let repo = prepared.copy();
        let acknowledged = killed_at(&repo.root(), operation, writes);
        let reported = format!("{}, killed at write {writes}", operation.name);
        // The next process finishes what was decided, and here does nothing else.
        drop(runs(&repo).repository().lock(std::time::Duration::from_secs(5)).unwrap());
        let found = left(&repo);
        match (found == before, found == after) {
            (true, false) => {
                assert!(!acknowledged, "{reported}: what was acknowledged is gone");
                seen_before += 1;
            }
            (false, true) => seen_after += 1,
            _ => panic!(
                "{reported}: it is neither before nor after: {}",
                differing(&found, &before, &after)
            ),
        }
        nothing_lies_about(&repo, &reported);
        if found == before {
            operation.act_whole(&runs(&repo));
            assert_eq!(differing(&left(&repo), &after, &after), "", "{reported}, and done again");
        }
        if acknowledged {
            break;
        }
        writes += stride;
    }
    assert!(
        seen_before > 0 && seen_after > 1,
        "{}: {seen_before} before, {seen_after} after",
        operation.name
    );
    seen_before + seen_after - 1
}

impl Operation {
    fn act_whole(&self, runs: &Runs) {
        let refusal = (self.act)(runs).err();
        assert_eq!(
            refusal.as_ref().map(|failure| failure.code),
            self.refusal,
            "{}: {refusal:?}",
            self.name
        );
    }
}

/// Does an operation in a process that is killed, and says whether it got through.
fn killed_at(folder: &Path, operation: &Operation, writes: u64) -> bool {
    let test = "kills::a_killed_operation_has_happened_or_has_not";
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .env(OPERATION, operation.name)
        .env(WRITES, writes.to_string())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(!failed.contains("panicked"), "{}: {failed}", operation.name);
    said.contains("acknowledged")
}

/// A world in which every process lives through the same moment and draws the same ids.
fn environment() -> Environment {
    let drawn = AtomicU64::new(0);
    Environment::new(
        || Time::from_unix_millis(4_000_000_000_000),
        move || {
            let mut seed = [7; 32];
            seed[..8].copy_from_slice(&drawn.fetch_add(1, Ordering::Relaxed).to_le_bytes());
            seed
        },
    )
}

fn runs(repo: &Repo) -> Runs {
    Runs::open(&repo.root(), environment()).unwrap()
}

/// Everything that a run consists of. Notes for other runners and copies of rejected results are
/// made beside the commit, and say nothing that counts.
fn left(repo: &Repo) -> BTreeMap<String, Vec<u8>> {
    let notes = ["session.json", "dispatch/", "locks/", "transactions/index/"];
    let home = repo.home().into_iter();
    let counts = |path: &str| {
        let path = path.strip_prefix(".agentxchain/").unwrap();
        !notes.iter().any(|note| path.starts_with(note))
    };
    let home = home.filter(|(path, _)| counts(path));
    let applied = repo.has(APPLIED).then(|| (APPLIED.to_owned(), repo.read(APPLIED).into_bytes()));
    let talk = ("TALK.md".to_owned(), repo.read("TALK.md").into_bytes());
    home.chain([talk]).chain(applied).collect()
}

/// The files that are neither as in the one nor as in the other.
fn differing(
    found: &BTreeMap<String, Vec<u8>>,
    one: &BTreeMap<String, Vec<u8>>,
    other: &BTreeMap<String, Vec<u8>>,
) -> String {
    let mut paths: Vec<&String> = found.keys().chain(one.keys()).chain(other.keys()).collect();
    paths.sort();
    paths.dedup();
    let reported = paths.into_iter().filter_map(|path| {
        let (here, one, other) = (found.get(path), one.get(path), other.get(path));
        match (here == one, here == other) {
            (true, true) => None,
            (true, false) => Some(format!("{path} is as before")),
            (false, true) => Some(format!("{path} is as after")),
            (false, false) => {
                Some(format!("{path} is {:?}", here.map(|bytes| String::from_utf8_lossy(bytes))))
            }
        }
    });
    reported.collect::<Vec<_>>().join("; ")
}

/// No journal, temporary file or lock of the killed process is left. A temporary file beside the
/// lock is kept for a minute: it may belong to a process that is waiting for the lock.
fn nothing_lies_about(repo: &Repo, reported: &str) {
    for (path, _) in repo.home() {
        if path.starts_with(".agentxchain/locks/.tmp-") {
            continue;
        }
        let journal = path.starts_with(".agentxchain/transactions/")
            && !path.starts_with(".agentxchain/transactions/index/");
        assert!(
            !journal && !path.contains("/.tmp-") && !path.ends_with("accept-turn.lock"),
            "{reported}: {path} was left"
        );
    }
}

fn accept_staged(runs: &Runs) -> Result<(), Failure> {
    runs.accept(&Accept::default()).map(drop)
}

/// A turn whose result is staged, with something for each record.
fn staged(repo: &Repo, at_the_gate: bool) {
    let turn = dispatched(&repo.started(), "pm");
    plan(repo);
    let result = result(&turn, &PLANNING, |result| {
        result["decisions"] = json!([
            {"id": "DEC-001", "category": "scope", "statement": "small", "rationale": "soon"},
            {"id": "DEC-002", "category": "architecture", "statement": "one file",
                "rationale": "simple", "durability": "repo"},
        ]);
        if at_the_gate {
            result["phase_transition_request"] = json!("implementation");
        }
    });
    stage(repo, &turn, &result);
}

/// A run that waits for a person.
fn waiting(repo: &Repo, request: &str, asked: serde_json::Value) {
    let runs = repo.started();
    let turn = dispatched(&runs, "pm");
    plan(repo);
    stage(repo, &turn, &result(&turn, &PLANNING, |result| result[request] = asked));
    accept(&runs, turn.turn.id()).unwrap();
}
