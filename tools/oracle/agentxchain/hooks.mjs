// Hooks: the scripts of the cases are run by /bin/sh, and their results become audit entries.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROTECTED = ["state.json", "history.jsonl", "decision-ledger.jsonl"].map((name) => join(".agentxchain", name));

export function runHooks({ setup, input: { args: { phase, payload } } }) {
  const hooks = setup.config.hooks[phase] ?? [];
  const folder = mkdtempSync(join(tmpdir(), "accord-oracle-"));
  try {
    mkdirSync(join(folder, ".agentxchain"));
    writeFileSync(join(folder, "agentxchain.json"), JSON.stringify(setup.config));
    for (const path of PROTECTED) writeFileSync(join(folder, path), path.endsWith("state.json") ? JSON.stringify(setup.state) : "");
    return inOrder(hooks, { folder, phase, payload, run_id: setup.state.run_id });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function inOrder(hooks, world) {
  const entries = [];
  let [ok, blocked] = [true, false];
  for (const hook of hooks) {
    const common = { timestamp: "the time of the run", hook_phase: world.phase, hook_name: hook.name, hook_id: hook.name, run_id: world.run_id, turn_id: world.payload.turn_id };
    if (blocked) {
      entries.push({ ...common, verdict: null, exit_code: null, duration_ms: 0, timed_out: false, orchestrator_action: "skipped" });
      continue;
    }
    const ran = hook.type === "http" ? { failed: true, exit_code: null, timed_out: false } : start(hook, world);
    const [orchestrator_action, verdict] = decide(hook.mode === "blocking", ran);
    const { exit_code, timed_out, stderr = "" } = ran;
    const { message = null, annotations = [] } = said(ran.stdout);
    entries.push({
      ...common, transport: hook.type, duration_ms: 1, verdict, message, annotations, exit_code, timed_out, stderr_excerpt: stderr, orchestrator_action,
    });
    blocked = orchestrator_action.startsWith("blocked");
    ok = ok && !blocked && !ran.tampered;
    if (ran.tampered) break;
  }
  return { result: "success", hook_ok: ok, blocked, audit_entry: entries[0] ?? null, audit_entries: entries };
}

function start(hook, { folder, phase, payload, run_id }) {
  const content = (path) => (existsSync(path) ? readFileSync(path, "utf8") : null);
  const before = PROTECTED.map((path) => content(join(folder, path)));
  const [program, ...args] = hook.command;
  const envelope = { hook_phase: phase, hook_name: hook.name, run_id, project_root: folder, timestamp: "the time of the run", payload };
  const told = { AGENTXCHAIN_HOOK_PHASE: phase, AGENTXCHAIN_HOOK_NAME: hook.name, AGENTXCHAIN_RUN_ID: run_id, AGENTXCHAIN_PROJECT_ROOT: folder };
  const ran = spawnSync(program, args, {
    cwd: folder, input: JSON.stringify(envelope), timeout: hook.timeout_ms, killSignal: "SIGKILL", encoding: "utf8",
    env: { ...told, ...hook.env },
  });
  const tampered = PROTECTED.some((path, index) => content(join(folder, path)) !== before[index]);
  const timed_out = ran.error?.code === "ETIMEDOUT";
  // A hook that does not read its input ends with a broken pipe, which is no failure.
  const failed = !timed_out && (ran.status === null || ran.status !== 0);
  return { tampered, timed_out, failed, exit_code: ran.status, stdout: ran.stdout, stderr: ran.stderr };
}

function decide(blocking, ran) {
  const stop = (name) => (blocking ? [`blocked${name}`, "block"] : [`warned${name}`, "warn"]);
  if (ran.tampered) return ["aborted_tamper", null];
  if (ran.timed_out) return stop("_timeout");
  if (ran.failed) return stop("_failure");
  switch (said(ran.stdout).verdict) {
    case "allow":
      return ["continued", "allow"];
    case "warn":
      return ["warned", "warn"];
    case "block":
      return blocking ? ["blocked", "block"] : ["downgraded_block_to_warn", "warn"];
    default:
      return stop("_invalid_output");
  }
}

/** The parsed output of a hook; nothing if it is not JSON. */
function said(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
