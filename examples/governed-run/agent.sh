#!/bin/sh
# A scripted agent for governed runs: it does what an agent CLI does in a turn, without a model.
#
# It is started in the repository. The environment names its turn; the instructions are in
# $AGENTXCHAIN_DISPATCH_DIR (and on standard input, if the runtime is configured so). It changes files,
# checks its work, and writes one JSON object to $AGENTXCHAIN_STAGING_PATH.
set -eu

echo "working on $AGENTXCHAIN_TURN_ID as $AGENTXCHAIN_ROLE in $AGENTXCHAIN_PHASE"

# The work: a greeting, and a test of it.
mkdir -p src tests
cat > src/greet.sh <<'END'
#!/bin/sh
echo "Hello, ${1:-world}!"
END
cat > tests/greet.sh <<'END'
#!/bin/sh
set -eu
test "$(sh src/greet.sh)" = "Hello, world!"
test "$(sh src/greet.sh team)" = "Hello, team!"
END
cat > .planning/IMPLEMENTATION_NOTES.md <<'END'
# Implementation

## Changes

`src/greet.sh` prints a greeting for the name that it is given.

## Verification

`sh tests/greet.sh` passes.
END

# The evidence: run the check and record its exit code.
status=pass
code=0
sh tests/greet.sh || { code=$?; status=fail; }

# The result.
mkdir -p "$(dirname "$AGENTXCHAIN_STAGING_PATH")"
cat > "$AGENTXCHAIN_STAGING_PATH" <<END
{
  "schema_version": "1.0",
  "run_id": "$AGENTXCHAIN_RUN_ID",
  "turn_id": "$AGENTXCHAIN_TURN_ID",
  "role": "$AGENTXCHAIN_ROLE",
  "runtime_id": "agent",
  "status": "completed",
  "summary": "A greeting, with its test",
  "decisions": [
    {"id": "DEC-101", "category": "implementation", "statement": "The greeting is a shell script",
     "rationale": "It runs everywhere and needs nothing"}
  ],
  "objections": [],
  "files_changed": ["src/greet.sh", "tests/greet.sh", ".planning/IMPLEMENTATION_NOTES.md"],
  "verification": {
    "status": "$status",
    "commands": ["sh tests/greet.sh"],
    "evidence_summary": "The greeting is as the plan says",
    "machine_evidence": [{"command": "sh tests/greet.sh", "exit_code": $code}]
  },
  "artifact": {"type": "workspace"},
  "proposed_next_role": "qa",
  "phase_transition_request": "qa"
}
END
echo "done"
