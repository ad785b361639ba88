// Checks the corpus itself: names and paths, clauses, and that siblings differ only in the declared places.

import { ASSERTIONS, changedPlaces, isAssertion, isObject } from "./match.mjs";

/** How many rules the surface reference lists for each surface, and the surface's tier. */
const SURFACES = {
  state_machine: [6, 1],
  turn_result_validation: [7, 1],
  gate_semantics: [6, 1],
  decision_ledger: [4, 1],
  history: [3, 1],
  config_schema: [5, 1],
  delegation: [8, 1],
  decision_carryover: [5, 1],
  parallel_turns: [6, 1],
  event_lifecycle: [8, 1],
  dispatch_manifest: [10, 2],
  hook_audit: [13, 2],
  coordinator: [9, 3],
};
const MEMBERS = ["fixture_id", "tier", "surface", "description", "type", "setup", "input", "expected", "x-case"];
const OWN_MEMBERS = ["clauses", "strength", "profile", "oracle", "sibling", "changes"];
const TYPES = ["accept", "reject", "transition", "validate"];
/** From the strongest to the weakest. */
const STRENGTHS = ["must", "should", "may", "proposal"];
/** The only programs that hooks of cases start; the second does not exist, on purpose. */
const PROGRAMS = ["/bin/sh", "/nowhere/tide-check"];

/** Every problem of the corpus, as text. */
export function structuralFaults(corpus) {
  const faults = [];
  const clauses = new Map(corpus.clauses.map((clause) => [clause.id, clause]));
  const descriptions = new Map();
  for (const [path, { text, fixture }] of corpus.cases) {
    const fault = (why) => faults.push(`${path}: ${why}`);
    if (text !== `${JSON.stringify(fixture, null, 2)}\n`) fault("is not two-space JSON with a final newline");
    form(fixture, path, fault);
    call(fixture, corpus.operations, fault);
    citations(fixture, clauses, fault);
    if (isRejecting(fixture)) sibling(fixture, corpus.byId, fault);
    const other = descriptions.get(fixture.description);
    if (other && !path.includes("/strict/")) fault(`has the same description as ${other}`);
    descriptions.set(fixture.description, path);
  }
  return [...faults, ...coverage(corpus, clauses)];
}

/** A case is rejecting when it says from which accepting case it differs. */
export const isRejecting = (fixture) => fixture["x-case"].sibling !== undefined;

function form(fixture, path, fault) {
  if (Object.keys(fixture).join() !== MEMBERS.join()) fault(`has the members ${Object.keys(fixture)}`);
  const own = fixture["x-case"];
  for (const key of Object.keys(own).filter((key) => !OWN_MEMBERS.includes(key))) fault(`x-case has no member ${key}`);
  const [, folder] = fixture.fixture_id.split("/");
  if (path !== `${fixture.fixture_id}.json`) fault(`its id is ${fixture.fixture_id}`);
  if (folder !== (own.profile ?? fixture.surface)) fault(`lies in ${folder}, not in the folder of its surface or profile`);
  if (fixture.tier !== SURFACES[fixture.surface]?.[1]) fault(`${fixture.surface} is not of tier ${fixture.tier}`);
  if (!TYPES.includes(fixture.type)) fault(`no fixture has the type ${fixture.type}`);
  if ((fixture.type === "reject") !== isRejecting(fixture)) fault("a rejecting case, and no other, names its sibling");
  if (!["ok", "success", "error"].includes(fixture.expected.result)) fault("expects no result");
  assertions(fixture.expected, fault);
  for (const hook of Object.values(fixture.setup.config?.hooks ?? {}).flat())
    if (hook.type === "process" && !PROGRAMS.includes(hook.command[0])) fault(`a hook starts ${hook.command[0]}`);
}

function assertions(value, fault) {
  if (isAssertion(value) && !ASSERTIONS.includes(value.assert)) fault(`the public format has no assertion ${value.assert}`);
  if (Array.isArray(value)) value.forEach((item) => assertions(item, fault));
  else if (isObject(value)) Object.values(value).forEach((item) => assertions(item, fault));
}

function call(fixture, operations, fault) {
  const operation = operations[fixture.input.operation];
  if (!operation) return fault(`no operation ${fixture.input.operation}`);
  for (const key of Object.keys(fixture.setup)) if (!operation.setup.includes(key)) fault(`its operation knows no setup ${key}`);
  for (const key of Object.keys(fixture.input.args)) if (!operation.args[key]) fault(`its operation has no argument ${key}`);
  for (const key of Object.keys(fixture.expected))
    if (!["result", "warnings_allowed", ...operation.result].includes(key)) fault(`its operation reports no ${key}`);
}

function citations(fixture, clauses, fault) {
  const own = fixture["x-case"];
  const cited = own.clauses.map((id) => clauses.get(id) ?? fault(`no clause ${id}`)).filter(Boolean);
  if (cited.length === 0) return fault("cites no clause");
  const strongest = Math.min(...cited.map((clause) => STRENGTHS.indexOf(clause.strength)));
  if (STRENGTHS.indexOf(own.strength) < strongest) fault("is stronger than every clause that it cites");
}

// A rejecting case can fail for one reason only, so everything else must be as in an accepting case.
function sibling(fixture, byId, fault) {
  const { sibling: id, changes } = fixture["x-case"];
  const accepting = byId.get(id);
  if (!accepting) return fault(`no sibling ${id}`);
  if (isRejecting(accepting)) fault(`its sibling ${id} is not an accepting case`);
  if (accepting["x-case"].profile !== fixture["x-case"].profile) fault(`its sibling ${id} is of another profile`);
  const part = ({ setup, input }) => ({ setup, input });
  const places = changedPlaces(part(accepting), part(fixture));
  const covers = (change, place) => place === change || place.startsWith(`${change}/`);
  for (const place of places) if (!changes.some((change) => covers(change, place))) fault(`differs from ${id} in ${place} without saying so`);
  for (const change of changes) {
    if (!places.some((place) => covers(change, place))) fault(`says that it differs from ${id} in ${change}, and does not`);
    if (change.split("/").length < 3) fault(`the change ${change} says too little`);
  }
  if (JSON.stringify(accepting.expected) === JSON.stringify(fixture.expected)) fault(`expects the same as ${id}`);
}

function coverage(corpus, clauses) {
  const [accepting, rejecting] = [new Set(), new Set()];
  for (const { fixture } of corpus.cases.values()) {
    const cited = fixture["x-case"].clauses;
    cited.forEach((id) => (isRejecting(fixture) ? rejecting : accepting).add(id));
    if (isRejecting(fixture)) cited.forEach((id) => accepting.add(id));
  }
  const faults = [];
  for (const id of clauses.keys()) if (!accepting.has(id)) faults.push(`no case cites ${id}`);
  for (const [surface, [count]] of Object.entries(SURFACES))
    for (let number = 1; number <= count; number += 1) {
      const about = [...clauses.values()].filter((clause) => promises(clause.source, surface).includes(number));
      if (!about.some(({ id }) => accepting.has(id))) faults.push(`promise ${number} of ${surface} has no accepting case`);
      if (!about.some(({ id }) => rejecting.has(id))) faults.push(`promise ${number} of ${surface} has no rejecting case`);
    }
  return faults;
}

/** The numbers of the rules of a surface from which a clause comes. */
function promises(source, surface) {
  const match = /^surface reference, (\w+) ([\d, ]+)$/.exec(source);
  return match && match[1] === surface ? match[2].split(",").map(Number) : [];
}
