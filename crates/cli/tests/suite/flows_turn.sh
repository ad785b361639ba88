# The project manager of a governed run, who uses the memory. The first result is refused.
set -e
unset ACCORD_DATA
keep() { "$ACCORD" "$@" > /dev/null; }
turn=".agentxchain/dispatch/turns/$AGENTXCHAIN_TURN_ID"
mkdir -p "$(dirname "$AGENTXCHAIN_STAGING_PATH")"
if [ ! -e seen.md ]; then
  keep context deposit --title 'Two caches are enough' --id pkg_caches
  keep fact assert cache count 2
  role=nobody
else
  keep fact assert cache size 9
  role="$AGENTXCHAIN_ROLE"
fi
cat "$turn/CONTEXT.md" > seen.md
echo "Approved: YES" > .planning/PM_SIGNOFF.md
echo "| 1 | it | $role |" >> .planning/ROADMAP.md
printf '## Purpose\n\nx\n\n## Interface\n\nx\n\n## Acceptance Tests\n\n- x\n' \
    > .planning/SYSTEM_SPEC.md
files=$(git status --porcelain --untracked-files=all | cut -c4- |
    grep -v '^.agentxchain\|TALK\|^.accord' | sed 's/.*/"&"/' | paste -sd,)
cat > "$AGENTXCHAIN_STAGING_PATH.part" <<END
{"schema_version": "1.0", "run_id": "$AGENTXCHAIN_RUN_ID", "turn_id": "$AGENTXCHAIN_TURN_ID",
 "role": "$role", "runtime_id": "agent", "status": "completed",
 "summary": "planned", "decisions": [], "objections": [], "files_changed": [$files],
 "verification": {"status": "pass", "evidence_summary": "read"},
 "artifact": {"type": "workspace"}, "proposed_next_role": "human",
 "phase_transition_request": "implementation"}
END
mv "$AGENTXCHAIN_STAGING_PATH.part" "$AGENTXCHAIN_STAGING_PATH"
