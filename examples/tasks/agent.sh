#!/bin/sh
# An agent of the tutorial: it does what an agent CLI does, without a model.
#
# It reads its briefing, writes a result and a summary, and reports. With the argument `slow` it
# works until its worker is gone.
set -eu

briefing=$(cat)
title=$(printf '%s\n' "$briefing" | sed -n 's/^# //p' | head -n 1)
echo "$ACCORD_TASK_AGENT works on $ACCORD_TASK_ID: $title"

if [ "${1:-}" = slow ]; then
    # About a minute at most, so that nothing is left behind.
    for _ in $(seq 300); do
        kill -0 "$PPID" 2>/dev/null || exit 1
        sleep 0.2
    done
fi

printf '%s\n' "$title: done by $ACCORD_TASK_AGENT" > "$ACCORD_TASK_DIR/outputs/result.txt"
printf '# %s\n\nThe result is in result.txt.\n' "$title" > "$ACCORD_TASK_DIR/outputs/summary.md"
cat > "$ACCORD_TASK_DIR/outputs/report.json" <<END
{
  "outcome": "done",
  "summaryRef": "outputs/summary.md",
  "deliverables": ["outputs/result.txt"],
  "tests": {"total": 1, "passed": 1, "failed": 0},
  "blockers": [],
  "notes": "The result is in result.txt."
}
END
