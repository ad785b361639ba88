// Turn results: the five stages. Of the normalization before them, only what the corpus asks for.

import { posix } from "node:path";

const STAGES = ["schema", "assignment", "artifact", "verification", "protocol"];
const REQUIRED = ["schema_version", "run_id", "turn_id", "role", "runtime_id", "status", "summary", "decisions", "objections",
  "files_changed", "verification", "artifact", "proposed_next_role"];
const CATEGORIES = ["implementation", "architecture", "scope", "process", "quality", "release"];
/** Paths that are reserved for the run and for version control. */
const RESERVED_FILES = ["state.json", "history.jsonl", "decision-ledger.jsonl", "lock.json", "events.jsonl", "repo-decisions.jsonl"]
  .map((name) => `.agentxchain/${name}`);
const RESERVED_FOLDERS = ["dispatch", "intake", "locks", "transactions", "multirepo"].map((name) => `.agentxchain/${name}`).concat(".git");
const STAGED = ".agentxchain/staging/";
const ROLE = /^[a-z0-9_-]+$/;
const TURN = /^[A-Za-z0-9_.:-]+$/;
const DECISION = /^DEC-\d+$/;

const isText = (value) => typeof value === "string";
const filled = (value) => isText(value) && value.trim() !== "";
const listOf = (value, test) => Array.isArray(value) && value.every(test);

/** The report of the validation of a case's staged result. */
export function validateTurn(fixture) {
  const { setup, input } = fixture;
  const strict = fixture["x-case"].profile === "strict";
  const staged = structuredClone(setup.turn_result ?? input.args.turn_result);
  const active = setup.state.active_turns;
  const turnId = input.args.turn_id ?? Object.keys(active)[0];
  const turn = active[turnId];
  const role = setup.config.roles[staged.role] ?? {};
  const about = { staged, strict, state: setup.state, config: setup.config, turnId, turn, role };
  if (!strict) normalize(about);
  for (const stage of STAGES) {
    const fault = CHECKS[stage](about);
    if (fault) return { result: "error", failed_stage: stage, error_type: `${stage}_error`, ...fault };
  }
  return { result: "success", stages_passed: STAGES, errors: [] };
}

function normalize({ staged, state, config, turnId, turn }) {
  if (staged.turn_id === turnId) staged.run_id = state.run_id;
  const isAbsent = (value) => value === null || value === "";
  if (isAbsent(staged.runtime_id) && turn) staged.runtime_id = turn.runtime_id;
  if (isAbsent(staged.proposed_next_role)) {
    const allowed = config.routing[state.phase]?.allowed_next_roles ?? [];
    staged.proposed_next_role = allowed.find((name) => name !== turn?.role) ?? allowed[0] ?? "human";
  }
  const decisions = Array.isArray(staged.decisions) ? staged.decisions : [];
  decisions.forEach((decision, index) => {
    if (!DECISION.test(decision.id ?? "")) decision.id = `DEC-${String(index + 1).padStart(3, "0")}`;
  });
  const handsOver = staged.run_completion_request || staged.phase_transition_request
    || (staged.status === "needs_human" && staged.proposed_next_role === "human");
  if (staged.artifact?.type === "workspace" && staged.files_changed?.length === 0 && handsOver) staged.artifact.type = "review";
}

const WRONG = {};
const CHECKS = { schema, assignment, artifact, verification, protocol };

function schema({ staged }) {
  const missing = REQUIRED.find((member) => staged[member] === undefined);
  if (missing) return { error_type: "missing_required_field", error_field: missing };
  const wrong = staged.schema_version !== "1.0"
    || !ROLE.test(staged.role)
    || !isText(staged.turn_id) || !TURN.test(staged.turn_id)
    || !isCost(staged.cost)
    || !["completed", "blocked", "needs_human", "failed"].includes(staged.status)
    || !filled(staged.summary) || /^<[^>]+>$/.test(staged.summary)
    || !Array.isArray(staged.decisions) || !Array.isArray(staged.objections)
    || !filled(staged.runtime_id) || !filled(staged.proposed_next_role)
    || !listOf(staged.files_changed, isText)
    || !["pass", "fail", "skipped"].includes(staged.verification.status)
    || !["workspace", "patch", "commit", "review"].includes(staged.artifact.type)
    || (staged.needs_human_reason !== undefined && !isText(staged.needs_human_reason))
    || !(isText(staged.phase_transition_request ?? "") && [true, false].includes(staged.run_completion_request ?? false))
    || !staged.objections.every(isObjection)
    || !(staged.delegations ?? []).every(isDelegation);
  if (wrong) return WRONG;
  if (staged.decisions.some(({ id }) => !DECISION.test(id))) return { error_type: "invalid_decision_id_format" };
  return staged.decisions.every(isDecision) ? null : WRONG;
}

const isCost = (cost) => cost === undefined
  || (typeof cost === "object" && (cost.usd === undefined || (Number.isFinite(cost.usd) && cost.usd >= 0)));

const isDecision = (decision) => CATEGORIES.includes(decision.category) && filled(decision.statement) && filled(decision.rationale)
  && ["run", "repo", undefined].includes(decision.durability)
  && (decision.overrides === undefined || (DECISION.test(decision.overrides) && decision.overrides !== decision.id));

const isObjection = (objection) => /^OBJ-\d+$/.test(objection.id) && filled(objection.statement)
  && ["low", "medium", "high", "blocking"].includes(objection.severity)
  && ["raised", "acknowledged", "resolved", "escalated", "resolved_by_human", "resolved_by_director"].includes(objection.status);

function isDelegation({ id, to_role, charter, acceptance_contract, scope, required_decision_ids: ids }) {
  const contract = acceptance_contract ?? scope;
  return /^del-\d{3}$/.test(id) && ROLE.test(to_role ?? "") && filled(charter)
    && listOf(contract, filled) && contract.length > 0
    && (ids === undefined || (listOf(ids, (one) => DECISION.test(one)) && ids.length > 0 && new Set(ids).size === ids.length));
}

function assignment({ staged, state, turnId, turn }) {
  if (staged.run_id !== state.run_id) return { error_type: "run_id_mismatch" };
  if (!turn) return WRONG;
  if (staged.turn_id !== turnId) return { error_type: "turn_id_mismatch" };
  return staged.role === turn.role && staged.runtime_id === turn.runtime_id ? null : WRONG;
}

function artifact({ staged, state, config, role }) {
  const { files_changed: files, proposed_changes: changes = [] } = staged;
  const authority = role.write_authority;
  const reserved = [...files, ...changes.map(({ path }) => path)].find(isReserved);
  if (reserved) return { error_type: "reserved_path_violation", error_path: reserved };
  const outside = (path) => posix.isAbsolute(path) || posix.normalize(path).startsWith("..");
  if ([...files, ...changes.map(({ path }) => path)].some(outside)) return WRONG;
  const planned = (path) => path.startsWith(".planning/") || path.startsWith(".agentxchain/reviews/");
  if (authority === "review_only" && (!files.every(planned) || staged.artifact.type !== "review")) return WRONG;
  if (staged.artifact.type === "workspace" && (authority !== "authoritative" || files.length === 0)) return WRONG;
  const product = files.some((path) => !planned(path) && !path.startsWith(STAGED));
  if (authority === "authoritative" && staged.artifact.type === "review" && product) return WRONG;
  if (authority === "authoritative" && state.phase === "implementation" && staged.status === "completed" && !product) return WRONG;
  const remote = ["api_proxy", "remote_agent"].includes(config.runtimes[role.runtime]?.type);
  const complete = ({ path, action, content }) => filled(path) && (action === "delete" || isText(content));
  if (authority === "proposed" && remote && staged.status === "completed" && !(changes.length > 0 && changes.every(complete))) return WRONG;
  return null;
}

function isReserved(path) {
  const plain = posix.normalize(path).toLowerCase();
  return RESERVED_FILES.includes(plain) || RESERVED_FOLDERS.some((folder) => plain === folder || plain.startsWith(`${folder}/`));
}

function verification({ staged, strict }) {
  const { status, commands = [], machine_evidence: evidence = [], produced_files: produced = [] } = staged.verification;
  const paths = produced.map(({ path }) => path);
  const sound = listOf(commands, filled)
    && evidence.every(({ command, exit_code }) => filled(command) && Number.isInteger(exit_code))
    && !(strict && status === "pass" && evidence.some(({ exit_code, expected_exit_code = 0 }) => exit_code !== expected_exit_code))
    && new Set(paths).size === paths.length
    && produced.every(({ disposition = "artifact" }) => ["artifact", "ignore"].includes(disposition))
    && !produced.some(({ path, disposition }) => disposition === "ignore" && staged.files_changed.includes(path));
  return sound ? null : WRONG;
}

function protocol({ staged, strict, state, config, turn, role }) {
  const { phase_transition_request: phase, run_completion_request: completion, delegations = [] } = staged;
  const challenged = config.rules?.challenge_required !== false;
  if (role.write_authority === "review_only" && challenged && staged.objections.length === 0)
    return { error_type: "challenge_requirement_violated", error_detail: "review_only role must raise at least one objection" };
  if (phase && completion)
    return { error_type: "mutually_exclusive_requests", error_detail: "phase_transition_request and run_completion_request cannot both be present" };
  const allowed = config.routing[state.phase]?.allowed_next_roles ?? [];
  const phases = Object.keys(config.routing);
  const nextPhase = phases[phases.indexOf(state.phase) + 1];
  const forward = phases.indexOf(phase) > phases.indexOf(state.phase);
  const mayFollow = (name) => name === "human" || allowed.includes(name);
  const wrong = (phase && phase !== nextPhase && (strict || !forward))
    || (strict && !mayFollow(staged.proposed_next_role))
    || (strict && staged.status === "needs_human" && !filled(staged.needs_human_reason))
    || delegations.length > 5
    || (delegations.length > 0 && (completion || turn.delegation_context))
    || ((phase || completion) && (turn.delegation_review?.results ?? []).some((child) => child.missing_decision_ids.length > 0))
    || new Set(delegations.map(({ id }) => id)).size !== delegations.length
    || delegations.some(({ to_role }) => to_role === staged.role || !config.roles[to_role] || !allowed.includes(to_role));
  return wrong ? WRONG : null;
}
