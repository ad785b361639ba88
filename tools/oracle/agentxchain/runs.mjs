// The run: its state machine, config, decision ledger, history and events.

import { validateTurn } from "./turns.mjs";

const refused = (error_type, more = {}) => ({ result: "error", error_type, state_unchanged: true, ...more });
const ILLEGAL = "invalid_state_transition";
const moved = (state) => ({ result: "ok", state_assertions: state });

// ---------------------------------------------------------------------------------------------------
// Config
// ---------------------------------------------------------------------------------------------------

/** The first error of a config, as a refusal; null if there is none. */
function configFault(config) {
  const fault = (error_type, more) => ({ result: "error", error_type, ...more });
  if ((config.schema_version ?? "1.0") !== "1.0")
    return fault("schema_version_invalid", { expected_version: "1.0", actual_version: config.schema_version });
  for (const [id, { runtime = "manual" }] of Object.entries(config.roles ?? {}))
    if (!config.runtimes?.[runtime] && runtime !== "manual")
      return fault("undeclared_runtime_reference", { error_field: `roles.${id}.runtime`, referenced_runtime: runtime });
  for (const [phase, route] of Object.entries(config.routing ?? {})) {
    const at = `routing.${phase}`;
    if (route.entry_role && !config.roles[route.entry_role])
      return fault("undeclared_role_reference", { error_field: `${at}.entry_role`, referenced_role: route.entry_role });
    if ((route.allowed_next_roles ?? []).some((role) => role !== "human" && !config.roles[role])) return fault("invalid_config");
    if (route.exit_gate && !config.gates?.[route.exit_gate])
      return fault("undeclared_gate_reference", { error_field: `${at}.exit_gate`, referenced_gate: route.exit_gate });
    const { max_concurrent_turns: turns = 1 } = route;
    if (!Number.isInteger(turns) || turns < 1 || turns > 4) return fault("invalid_config");
  }
  return null;
}

export const validateConfig = ({ input }) => configFault(input.args.config) ?? { result: "success", errors: [] };

// ---------------------------------------------------------------------------------------------------
// State machine
// ---------------------------------------------------------------------------------------------------

export function initializeRun({ setup }) {
  if (configFault(setup.config)) return refused("invalid_config");
  if (setup.state.status !== "idle") return refused(ILLEGAL);
  const inForce = repoDecisions(setup).filter(({ status }) => status === "active");
  const repo_decisions = inForce.length > 0 ? inForce : null;
  return moved({ ...setup.state, status: "active", run_id: "run_0000000000000000", repo_decisions });
}

export function assignTurn({ setup, input }) {
  const { state, config } = setup;
  if (configFault(config)) return refused("invalid_config");
  const active = Object.values(state.active_turns);
  const holds = (role) => active.some((turn) => turn.role === role);
  const room = config.routing[state.phase]?.max_concurrent_turns ?? 1;
  const role = input.args.role_id;
  if (state.status !== "active" || !config.roles[role] || holds(role) || active.length >= room) return refused(ILLEGAL);
  const turns = Object.entries(state.active_turns).map(([id, turn]) => [id, { ...turn, assigned_role: turn.role }]);
  return moved({ ...state, turn_sequence: state.turn_sequence + 1, active_turns: Object.fromEntries(turns) });
}

export function approveTransition({ setup: { state } }) {
  const pending = state.pending_phase_transition;
  if (!["paused", "blocked"].includes(state.status) || !pending) return refused(ILLEGAL);
  const phase_gate_status = { ...state.phase_gate_status, [pending.gate]: "passed" };
  return moved({ ...state, status: "active", phase: pending.to, pending_phase_transition: null, phase_gate_status });
}

export function approveCompletion({ setup: { state } }) {
  if (!["paused", "blocked"].includes(state.status) || !state.pending_run_completion) return refused(ILLEGAL);
  return moved({ ...state, status: "completed", pending_run_completion: null, completed_at: "the time of the run" });
}

export function resolveBlocked({ setup: { state }, input }) {
  const waits = state.pending_phase_transition || state.pending_run_completion;
  if (state.status !== "blocked" || input.args.action !== "resume" || waits) return refused(ILLEGAL);
  return moved({ ...state, status: "active", blocked_on: null });
}

export function transitionState({ setup: { state }, input: { args } }) {
  const id = args.candidate_overrides?.run_id;
  if (id !== undefined && id !== state.run_id) return refused("immutable_field");
  if (args.target_status !== undefined || state.status !== "active") return refused(ILLEGAL);
  if (args.trigger === "gate_requires_human_approval") return moved({ ...state, status: "paused", pending_phase_transition: args.gate });
  const reason = args.reason.replaceAll("_", "-");
  return moved({ ...state, status: "blocked", blocked_on: `escalation:${reason}:${args.role_id}` });
}

// ---------------------------------------------------------------------------------------------------
// Ledger and history
// ---------------------------------------------------------------------------------------------------

const CATEGORIES = ["implementation", "architecture", "scope", "process", "quality", "release"];
const DECISION_ID = /^DEC-\d+$/;

export function appendDecision({ setup: { ledger }, input: { args: { entry } } }) {
  const no = (error_type, more = {}) => ({ result: "error", error_type, ...more, ledger_length: ledger.length });
  if (!DECISION_ID.test(entry.id ?? "")) return no("invalid_decision_id_format");
  if (!entry.statement?.trim()) return no("empty_required_field", { error_field: "statement" });
  if (!CATEGORIES.includes(entry.category)) return no("invalid_enum_value", { error_field: "category", valid_values: CATEGORIES });
  if (ledger.some(({ id }) => id === entry.id)) return no("duplicate_decision_id", { duplicate_id: entry.id });
  return { result: "success", ledger_length: ledger.length + 1, ledger_last_entry: entry };
}

export function acceptTurn(fixture) {
  const { setup: { state, history, ledger, config, turn_result: result }, input: { args: { turn_id } } } = fixture;
  const standing = repoDecisions(fixture.setup);
  const no = (error_type, more = {}) => ({ result: "error", error_type, history_length: history.length, repo_decisions: standing, ...more });
  if (history.some((entry) => entry.turn_id === turn_id)) return no("turn_already_accepted");
  if (!state.active_turns[turn_id]) return no("turn_not_active", { state_unchanged: true });
  const validation = validateTurn(fixture);
  if (validation.result === "error") return { ...validation, repo_decisions: standing };
  const used = result.decisions.find(({ id }) => ledger.some((entry) => entry.id === id));
  if (used) return no("duplicate_decision_id");
  if (!mayOverride(result, config, standing)) return no("override_validation_failed");
  const accepted_sequence = state.accepted_sequence + 1;
  const { [turn_id]: _, ...active_turns } = state.active_turns;
  // No gate of the cases that ask stays shut; a request waits for the turns that are left.
  const waits = Object.keys(active_turns).length > 0;
  const phase = (!waits && result.phase_transition_request) || state.phase;
  const { run_id, role, status, summary } = result;
  return {
    result: "success",
    state: { phase, accepted_sequence, active_turns },
    history_length: history.length + 1,
    history_last_entry: { turn_id, run_id, role, status, summary, accepted_sequence, accepted_at: "the time of the run" },
    repo_decisions: promoted(standing, result),
  };
}

/** The durable decisions of the repository. */
const repoDecisions = ({ filesystem }) =>
  (filesystem?.[".agentxchain/repo-decisions.jsonl"] ?? "").split("\n").filter(Boolean).map((line) => JSON.parse(line));

const HUMAN_AUTHORITY = 100;

function mayOverride(result, config, standing) {
  const authority = (role) => config.roles[role]?.decision_authority ?? (role === "human" ? HUMAN_AUTHORITY : undefined);
  return result.decisions.every(({ overrides }) => {
    if (!overrides) return true;
    const target = standing.find(({ id }) => id === overrides);
    const [own, theirs] = [result.role, target?.role].map(authority);
    const outranks = result.role === target?.role || own === undefined || theirs === undefined || own >= theirs;
    return target?.status === "active" && outranks;
  });
}

/** What the repository has after an acceptance: overridden decisions are replaced, durable ones are added. */
function promoted(standing, { decisions, run_id, turn_id, role }) {
  const lasting = decisions.filter(({ durability, overrides }) => durability === "repo" || overrides);
  const heir = (id) => lasting.find(({ overrides }) => overrides === id)?.id;
  const after = standing.map((line) => (heir(line.id) ? { ...line, status: "overridden", overridden_by: heir(line.id) } : line));
  return [...after, ...lasting.map((decision) => ({ ...decision, run_id, turn_id, role, status: "active", overridden_by: null }))];
}

// ---------------------------------------------------------------------------------------------------
// Events
// ---------------------------------------------------------------------------------------------------

const EVENT_TYPES = `run_started phase_entered intents_migrated intents_superseded intent_retired_by_phase_advance
  turn_dispatched turn_accepted turn_rejected turn_conflicted conflict_resolved acceptance_failed turn_reissued turn_stalled
  turn_start_failed runtime_spawn_failed stdout_attach_failed turn_checkpointed coordinator_retry
  coordinator_retry_projection_warning run_blocked run_completed escalation_raised escalation_resolved gate_pending gate_approved
  gate_failed phase_cleanup budget_exceeded_warn human_escalation_raised human_escalation_resolved dispatch_progress
  session_continuation auto_retried_ghost ghost_retry_exhausted auto_retried_productive_timeout productive_timeout_retry_exhausted
  retained_claude_auth_escalation_reclassified state_reconciled_operator_commits operator_commit_reconcile_refused
  charter_materialization_required artifact_type_auto_normalized staged_result_auto_normalized`.split(/\s+/);

export function validateEvent({ input: { args: { event } } }) {
  const text = (value) => typeof value === "string" && value.trim() !== "";
  const aboutTurn = ["turn_dispatched", "turn_accepted", "turn_rejected"].includes(event.event_type);
  const valid = text(event.event_id) && text(event.run_id) && EVENT_TYPES.includes(event.event_type)
    && !Number.isNaN(Date.parse(event.timestamp)) && (!aboutTurn || text(event.turn?.turn_id));
  return valid ? { result: "success", errors: [] } : { result: "error", error_type: "invalid_event" };
}

export function validateOrder({ input: { args: { events } } }) {
  if (events.length === 0) return { result: "error", error_type: "invalid_events" };
  const types = events.map(({ event_type }) => event_type);
  const times = events.map(({ timestamp }) => Date.parse(timestamp));
  const dispatched = (turn, before) => events.slice(0, before).some((event) => event.event_type === "turn_dispatched" && event.turn.turn_id === turn);
  const ids = events.map(({ event_id }) => event_id);
  const ordered = types[0] === "run_started"
    && new Set(ids).size === ids.length
    && !times.some(Number.isNaN)
    && (!types.includes("run_completed") || types.at(-1) === "run_completed")
    && events.every((event, index) => event.event_type !== "turn_accepted" || dispatched(event.turn.turn_id, index))
    && times.every((time, index) => index === 0 || time >= times[index - 1]);
  return ordered ? { result: "success", errors: [] } : { result: "error", error_type: "ordering_violation" };
}
