//! A scripted agent that does something else in its turn, beside sound work.
//!
//! The repository is under git, and every gate of it needs a person: it asks for approval and is
//! credentialed. The agent has the role `pm`. It plans, requests the next phase, and stages a sound
//! result; a test says what else it does, as lines for `/bin/sh`:
//!
//! ```text
//! let attack = Attack::new("sed -i 's/a/b/' agentxchain.json");
//! refused(attack.step(), Code::XchainRecordsChanged);
//! attack.assert_gates_hold();
//! ```

use accord_contract::Failure;
use accord_runs::Runs;
use accord_runs::operations::{Step, StepResult};
use serde_json::{Value, json};

use crate::support::Repo;

/// What the agent does after the lines of the test, by default.
const WORK: &str = r#"
mkdir -p "$(dirname "$AGENTXCHAIN_STAGING_PATH")" .planning
printf 'Approved: YES\n' > .planning/PM_SIGNOFF.md
printf '| Req # | What |\n|---|---|\n| 1 | it works |\n' > .planning/ROADMAP.md
printf '## Purpose\n\nTo work.\n\n## Interface\n\nA function.\n\n' > .planning/SYSTEM_SPEC.md
printf '## Acceptance Tests\n\n- it runs\n' >> .planning/SYSTEM_SPEC.md
cat > "$AGENTXCHAIN_STAGING_PATH" <<END
{"schema_version": "1.0", "run_id": "$AGENTXCHAIN_RUN_ID", "turn_id": "$AGENTXCHAIN_TURN_ID",
 "role": "$AGENTXCHAIN_ROLE", "runtime_id": "agent", "status": "completed", "summary": "planned",
 "decisions": [], "objections": [],
 "files_changed": [".planning/PM_SIGNOFF.md", ".planning/ROADMAP.md", ".planning/SYSTEM_SPEC.md"
  $DECLARED],
 "verification": {"status": "pass", "commands": ["true"], "evidence_summary": "seen",
  "machine_evidence": [{"command": "true", "exit_code": 0}]},
 "artifact": {"type": "workspace"}, "proposed_next_role": "human",
 "phase_transition_request": "implementation"}
END
echo planned
"#;

/// The agent waits until Accord has recorded that it works, and has taken that over into its
/// copies: what the agent writes before that may have no effect at all. A process that is killed
/// before that has a commit to complete.
const BEGIN: &str = r#"
echo begun
for round in $(seq 3000); do
    if grep -q first_output_at .agentxchain/state.json; then
        copy="$(ls "$XDG_TEST_MARKS"/../accord/runs/*/copy.json 2>/dev/null)"
        test -z "$copy" && break
        grep -q first_output_at "$copy" && grep -q '"pending":null' "$copy" && break
    fi
    sleep 0.02
done
"#;

/// Lines that write `state.json` with a program for `sed`.
pub(crate) fn edit_state(program: &str) -> String {
    format!("sed -i '{program}' .agentxchain/state.json")
}

/// Lines that open every gate in the configuration, and declare that.
pub(crate) const OPEN_GATES: &str = r#"
sed -i 's/"credentialed": true/"credentialed": false/' agentxchain.json
sed -i 's/"requires_human_approval": true/"requires_human_approval": false/' agentxchain.json
DECLARED=', "agentxchain.json"'
"#;

/// A governed repository with such an agent.
pub(crate) struct Attack {
    pub(crate) repo: Repo,
    pub(crate) runs: Runs,
}

impl Attack {
    /// The agent does this in every turn, before its work.
    pub(crate) fn new(lines: &str) -> Self {
        Self::with_script(&format!("{lines}\n{WORK}"))
    }

    /// The agent does this in its first attempt only.
    pub(crate) fn once(lines: &str) -> Self {
        // Outside the repository, so that no rule finds it.
        let mark = "\"$XDG_TEST_MARKS/$AGENTXCHAIN_TURN_ID\"";
        let first = format!("if ! test -e {mark}; then touch {mark}\n{lines}\nfi");
        Self::new(&first)
    }

    /// The agent does this after its work.
    pub(crate) fn after_work(lines: &str) -> Self {
        Self::with_script(&format!("{WORK}\n{lines}"))
    }

    fn with_script(script: &str) -> Self {
        let repo = Repo::with_git();
        let marks = repo.state_folder().join("marks");
        std::fs::create_dir_all(&marks).unwrap();
        let script = format!("XDG_TEST_MARKS={}\n{BEGIN}\n{script}", marks.display());
        repo.configure(|config| {
            config["roles"]["pm"]["runtime"] = json!("agent");
            config["runtimes"]["agent"] =
                json!({"type": "local_cli", "command": ["/bin/sh", "-c", script]});
            for gate in config["gates"].as_object_mut().unwrap().values_mut() {
                gate["requires_human_approval"] = json!(true);
                gate["credentialed"] = json!(true);
            }
        });
        let runs = repo.started();
        Self { repo, runs }
    }

    /// `accord run step`.
    pub(crate) fn step(&self) -> Result<StepResult, Failure> {
        self.runs.step(&Step::default())
    }

    /// The run is in its first phase, no gate was passed, and no record says otherwise.
    #[track_caller]
    pub(crate) fn assert_gates_hold(&self) {
        let state = self.repo.json(".agentxchain/state.json");
        assert_eq!(state["phase"], "planning", "{state:#}");
        let gates = state["phase_gate_status"].as_object().cloned().unwrap_or_default();
        assert!(gates.values().all(|status| status != "passed"), "{state:#}");
        assert_ne!(state["status"], "completed");
        let config = self.repo.json("agentxchain.json");
        for (name, gate) in config["gates"].as_object().unwrap() {
            assert_eq!(gate["credentialed"], true, "{name}");
            assert_eq!(gate["requires_human_approval"], true, "{name}");
        }
        for record in ["events.jsonl", "decision-ledger.jsonl"] {
            for line in self.repo.lines(&format!(".agentxchain/{record}")) {
                assert_ne!(line["event_type"], "gate_approved", "{line}");
                assert_ne!(line["event_type"], "run_completed", "{line}");
                assert!(!line.to_string().contains("forged"), "{line}");
            }
        }
    }

    /// The folders of the changes that were put back, oldest first.
    pub(crate) fn kept(&self) -> Vec<accord_runs::KeptChange> {
        self.runs.status().unwrap().kept
    }

    /// The state as a document.
    pub(crate) fn state(&self) -> Value {
        self.repo.json(".agentxchain/state.json")
    }
}
