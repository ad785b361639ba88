# The project manager of a test: writes the plan, requests the next phase, and keeps its prompt.
set -e
number=1
while [ -e "prompt-$number.md" ]; do number=$((number + 1)); done
cp ".agentxchain/dispatch/turns/$AGENTXCHAIN_TURN_ID/PROMPT.md" "prompt-$number.md"
echo "Approved: YES" > .planning/PM_SIGNOFF.md
echo "| 1 | it | attempt $number |" >> .planning/ROADMAP.md
printf '## Purpose\n\nx %s\n\n## Interface\n\nx\n\n## Acceptance Tests\n\n- x\n' "$number" \
    > .planning/SYSTEM_SPEC.md
files=$(git status --porcelain --untracked-files=all | cut -c4- | grep -v '^.agentxchain\|TALK' |
    sed 's/.*/"&"/' | paste -sd,)
mkdir -p "$(dirname "$AGENTXCHAIN_STAGING_PATH")"
cat > "$AGENTXCHAIN_STAGING_PATH.part" <<END
{"schema_version": "1.0", "run_id": "$AGENTXCHAIN_RUN_ID", "turn_id": "$AGENTXCHAIN_TURN_ID",
 "role": "$AGENTXCHAIN_ROLE", "runtime_id": "agent", "status": "completed",
 "summary": "planned $number", "decisions": [], "objections": [], "files_changed": [$files],
 "verification": {"status": "pass", "evidence_summary": "read"},
 "artifact": {"type": "workspace"}, "proposed_next_role": "human",
 "phase_transition_request": "implementation"}
END
mv "$AGENTXCHAIN_STAGING_PATH.part" "$AGENTXCHAIN_STAGING_PATH"
