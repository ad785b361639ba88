// Several repositories: the coordinator's config, and what the acceptance of a turn does to barriers.

import { posix } from "node:path";

const BARRIERS = ["all_repos_accepted", "interface_alignment", "named_decisions", "ordered_repo_sequence", "shared_human_gate"];
const DECISION = /^DEC-\d+$/;

export function validateCoordinatorConfig({ setup: { coordinator_config: config } }) {
  const bad = { result: "error", error_type: "invalid_coordinator_config", errors: [] };
  if (!isSound(config)) return bad;
  return hasCircle(config.workstreams) ? { ...bad, error_type: "workstream_cycle" } : { result: "success", errors: [] };
}

function isSound(config) {
  const { repos, workstreams, routing, gates = {} } = config;
  const phases = Object.keys(routing ?? { planning: 1, implementation: 1, qa: 1 });
  const isRepo = (id) => repos[id] !== undefined;
  const soundStream = (stream) => phases.includes(stream.phase)
    && stream.repos.length > 0 && stream.repos.every(isRepo) && new Set(stream.repos).size === stream.repos.length
    && stream.repos.includes(stream.entry_repo)
    && Array.isArray(stream.depends_on) && stream.depends_on.every((id) => workstreams[id])
    && BARRIERS.includes(stream.completion_barrier) && listsDecisions(stream);
  const soundRoute = ([phase, { entry_workstream: id }]) => id === undefined || workstreams[id]?.phase === phase;
  return config.schema_version === "0.1" && Boolean(config.project.id) && Boolean(config.project.name)
    && Object.values(repos).every((repo) => repo.path && (!("default_branch" in repo) || repo.default_branch))
    && Object.values(workstreams).every(soundStream)
    && Object.entries(routing ?? {}).every(soundRoute)
    && Object.values(gates).every(({ requires_repos = [] }) => requires_repos.every(isRepo));
}

function listsDecisions(stream) {
  if (!["interface_alignment", "named_decisions"].includes(stream.completion_barrier)) return true;
  const lists = stream[stream.completion_barrier]?.decision_ids_by_repo;
  const sound = (ids) => ids.length > 0 && ids.every((id) => DECISION.test(id)) && new Set(ids).size === ids.length;
  return lists !== undefined && Object.keys(lists).sort().join() === [...stream.repos].sort().join() && Object.values(lists).every(sound);
}

function hasCircle(workstreams) {
  const reaches = (from, to, seen = new Set()) => workstreams[from].depends_on.some((next) => {
    if (next === to) return true;
    if (seen.has(next)) return false;
    seen.add(next);
    return reaches(next, to, seen);
  });
  return Object.keys(workstreams).some((id) => reaches(id, id));
}

export function projectAcceptance({ setup, input: { args: { repo_id, workstream_id, accepted_turn } } }) {
  const { repos, workstreams } = setup.coordinator_config;
  const stream = workstreams[workstream_id];
  if (!stream?.repos.includes(repo_id) || !accepted_turn.turn_id) return { result: "error", error_type: "projection_failed" };
  const root = posix.join("/workspace", repos[repo_id].path);
  const inside = (path) => posix.resolve(root, path).startsWith(`${root}/`);
  if (!accepted_turn.files_changed.every(inside)) return { result: "error", error_type: "cross_repo_write_violation" };
  const earlier = setup.coordinator_history.filter(({ type, workstream_id: id }) => type === "acceptance_projection" && id === workstream_id);
  const known = earlier.find((entry) => entry.repo_id === repo_id && entry.repo_turn_id === accepted_turn.turn_id);
  const projections = known ? earlier : [...earlier, { repo_id, decisions: accepted_turn.decisions }];
  const effects = [];
  const snapshot = {};
  for (const [id, barrier] of Object.entries(setup.barriers)) {
    const stays = barrier.status === "satisfied" || barrier.workstream_id !== workstream_id;
    const after = stays ? barrier.status : statusOf(barrier, stream, projections);
    if (after !== barrier.status) effects.push({ barrier_id: id, previous_status: barrier.status, new_status: after });
    snapshot[id] = { status: after };
  }
  const projection_ref = known?.projection_ref ?? `proj_${workstream_id}_${repo_id}_00000000`;
  return { result: "success", projection_ref, barrier_effects: effects, barrier_snapshot: snapshot };
}

function statusOf(barrier, stream, projections) {
  const accepted = new Set(projections.map(({ repo_id }) => repo_id));
  const decided = (repo) => projections.filter(({ repo_id }) => repo_id === repo).flatMap(({ decisions }) => decisions).map((one) => one.id ?? one);
  const ids = barrier.alignment_decision_ids ?? barrier.required_decision_ids_by_repo;
  const satisfied = {
    all_repos_accepted: () => barrier.required_repos.every((repo) => accepted.has(repo)),
    ordered_repo_sequence: () => accepted.has(stream.entry_repo),
    interface_alignment: () => barrier.required_repos.every((repo) => ids[repo].every((id) => decided(repo).includes(id))),
    named_decisions: () => barrier.required_repos.every((repo) => ids[repo].every((id) => decided(repo).includes(id))),
  }[barrier.type];
  if (!satisfied) return "pending";
  return satisfied() ? "satisfied" : "partially_satisfied";
}
