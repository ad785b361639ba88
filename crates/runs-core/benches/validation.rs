//! How long the judgement of a turn's result takes, against reading the same bytes.
//!
//! ```text
//! cargo bench -p accord-runs-core --bench validation
//! ```
//!
//! The floor is what a JSON library needs to read the bytes into a tree of values; what is
//! measured reads them strictly, corrects them and judges them in all five stages. The promise
//! is a time, since a person waits for it; the ratio tells one machine from another.
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock, and nothing else of the world"
)]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant as Clock};

use accord_runs_core::config::Config;
use accord_runs_core::history::RunIndex;
use accord_runs_core::result::{Leniency, Situation, judge, read_staged};
use accord_runs_core::state::State;
use serde_json::{Value, json};

/// What a judgement may take.
const PROMISE_US: f64 = 100.0;

fn main() -> ExitCode {
    let config = Config::read(config()).expect("the configuration is sound");
    let state = State::read(state()).expect("the state is sound");
    let index = RunIndex::new(state.run_id());
    let situation =
        Situation { config: &config, state: &state, turn: state.turns().next(), index: &index };
    let mut broken = false;
    for (name, decisions) in [("a usual result", 3), ("a long result", 40)] {
        let bytes = result(decisions).to_string().into_bytes();
        let floor = p50(|| {
            let value: Value = serde_json::from_slice(&bytes).expect("the result is JSON");
            black_box(value);
        });
        println!("{name}, {} bytes", bytes.len());
        println!("  floor: reading it with serde_json: {:.1} us", micros(floor));
        for (manner, strict) in [("leniently", false), ("strictly", true)] {
            let leniency = Leniency { strict, ..Leniency::default() };
            let took = p50(|| {
                let judged = judge(read_staged(black_box(&bytes)), &situation, leniency);
                assert!(judged.validation.failed_stage.is_none(), "it passes");
                black_box(judged);
            });
            println!(
                "  read and judged {manner}: {:.1} us, {:.1} times the floor",
                micros(took),
                micros(took) / micros(floor)
            );
            let promised = decisions == 3;
            if promised && micros(took) > PROMISE_US {
                println!("  => at most {PROMISE_US} us  FAILED");
                broken = true;
            }
        }
    }
    if broken { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// The middle of many measurements.
fn p50(mut work: impl FnMut()) -> Duration {
    let mut took: Vec<Duration> = (0..2_001)
        .map(|_| {
            let began = Clock::now();
            work();
            began.elapsed()
        })
        .collect();
    took.sort();
    took[took.len() / 2]
}

fn micros(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1000.0
}

fn config() -> Value {
    json!({
        "schema_version": "1.0",
        "project": {"id": "shop", "name": "Shop"},
        "roles": {
            "dev": {"title": "Dev", "mandate": "Build.", "write_authority": "authoritative",
                "runtime": "agent"},
            "qa": {"title": "QA", "mandate": "Judge.", "write_authority": "review_only",
                "runtime": "hand"}
        },
        "runtimes": {"hand": {"type": "manual"}, "agent": {"type": "local_cli",
            "command": ["agent"]}},
        "routing": {
            "planning": {"entry_role": "dev", "allowed_next_roles": ["dev", "qa", "human"]},
            "implementation": {"entry_role": "dev", "allowed_next_roles": ["dev", "qa", "human"]},
            "qa": {"entry_role": "qa", "allowed_next_roles": ["dev", "human"]}
        }
    })
}

fn state() -> Value {
    json!({
        "schema_version": "1.1", "run_id": "run_1", "project_id": "shop", "status": "active",
            "phase": "implementation",
        "turn_sequence": 1,
        "active_turns": {"turn_1": {"turn_id": "turn_1", "run_id": "run_1", "assigned_role": "dev",
            "status": "running",
            "attempt": 1, "runtime_id": "agent", "assigned_sequence": 1}}
    })
}

/// A result with so many decisions, and twice as many files.
fn result(decisions: usize) -> Value {
    let rationale =
        "Every question that the shop asks about orders needs one index, not two joins.";
    let decision = |number: usize| {
        json!({"id": format!("DEC-{number:03}"), "category": "implementation",
               "statement": "Orders are kept in one table, with a column for their state.",
               "rationale": rationale})
    };
    let files: Vec<String> =
        (0..2 * decisions).map(|number| format!("src/orders/part_{number}.rs")).collect();
    let made: Vec<Value> = (1..=decisions).map(decision).collect();
    json!({
        "schema_version": "1.0", "run_id": "run_1", "turn_id": "turn_1", "role": "dev",
            "runtime_id": "agent",
        "status": "completed",
        "summary":
            "Orders can be placed, paid and cancelled; the old tables are migrated at start-up.",
        "decisions": made,
        "objections": [{"id": "OBJ-001", "severity": "low", "status": "raised",
                        "statement": "A cancelled order still holds its number."}],
        "files_changed": files,
        "verification": {"status": "pass", "commands": ["make test", "make lint"],
            "evidence_summary": "All tests pass.",
            "machine_evidence": [{"command": "make test", "exit_code": 0},
                {"command": "make lint", "exit_code": 0}]},
        "artifact": {"type": "workspace"},
        "proposed_next_role": "qa",
        "phase_transition_request": "qa"
    })
}
