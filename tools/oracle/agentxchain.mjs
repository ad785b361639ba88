#!/usr/bin/env node
// An independent implementation of the rules of AgentXchain v7, to check the corpus.
//
// It shares no code with the Rust crates. For every case it computes what an implementation must report and
// compares that with what the case expects: digests of dispatch manifests, reasons of gates, sequence numbers,
// stages, barriers; the scripts of hook cases are run. It also checks the corpus itself: places and ids, clauses,
// and that every rejecting case differs from its accepting sibling only in the declared places.
//
//   node tools/oracle/agentxchain.mjs --check corpus/agentxchain   exit 1 and name each difference
//   node tools/oracle/agentxchain.mjs --fill corpus/agentxchain    write the digests into the cases that name this oracle
//
// Node 20 and /bin/sh, no dependencies.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

import { projectAcceptance, validateCoordinatorConfig } from "./agentxchain/coordinator.mjs";
import { evaluatePhaseExit, evaluateRunCompletion } from "./agentxchain/gates.mjs";
import { runHooks } from "./agentxchain/hooks.mjs";
import { inspectManifest, manifestFiles, verifyManifest } from "./agentxchain/manifest.mjs";
import { mismatches } from "./agentxchain/match.mjs";
import * as runs from "./agentxchain/runs.mjs";
import { isRejecting, structuralFaults } from "./agentxchain/structure.mjs";
import { validateTurn } from "./agentxchain/turns.mjs";

const ORACLE = "node";
const COMPANIONS = ["clauses.json", "operations.json"];
const OPERATIONS = {
  initialize_run: runs.initializeRun,
  assign_turn: runs.assignTurn,
  approve_transition: runs.approveTransition,
  approve_completion: runs.approveCompletion,
  resolve_blocked: runs.resolveBlocked,
  transition_state: runs.transitionState,
  validate_turn_result: validateTurn,
  evaluate_phase_exit: evaluatePhaseExit,
  evaluate_run_completion: evaluateRunCompletion,
  append_decision: runs.appendDecision,
  accept_turn: runs.acceptTurn,
  validate_config: runs.validateConfig,
  validate_event: runs.validateEvent,
  validate_event_ordering: runs.validateOrder,
  verify_dispatch_manifest: verifyManifest,
  inspect_dispatch_manifest: inspectManifest,
  run_hooks: runHooks,
  validate_coordinator_config: validateCoordinatorConfig,
  project_repo_acceptance: projectAcceptance,
};

function main([mode, folder]) {
  if (!["--check", "--fill"].includes(mode) || !folder) {
    console.error("usage: agentxchain.mjs --check|--fill corpus/agentxchain");
    return 2;
  }
  const corpus = read(folder);
  if (mode === "--fill") return fill(corpus, folder);
  const faults = [...structuralFaults(corpus), ...[...corpus.cases].flatMap(([path, { fixture }]) => judge(path, fixture))];
  faults.forEach((fault) => console.log(fault));
  const rejecting = [...corpus.byId.values()].filter(isRejecting).length;
  console.log(`${corpus.cases.size} cases (${rejecting} rejecting), ${corpus.clauses.length} clauses, ${faults.length} differences`);
  return faults.length === 0 ? 0 : 1;
}

/** The corpus; cases by their path, which begins with the protocol's folder. */
function read(folder) {
  const companion = (name) => JSON.parse(readFileSync(join(folder, name), "utf8"));
  const root = dirname(resolve(folder));
  const paths = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".json") && !COMPANIONS.includes(name)).sort();
  const cases = new Map(paths.map((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    return [relative(root, resolve(folder, name)), { text, fixture: JSON.parse(text) }];
  }));
  const byId = new Map([...cases.values()].map(({ fixture }) => [fixture.fixture_id, fixture]));
  return { cases, byId, clauses: companion("clauses.json").clauses, operations: companion("operations.json").operations };
}

function judge(path, fixture) {
  const operation = OPERATIONS[fixture.input.operation];
  if (!operation) return [`${path}: the oracle has no operation ${fixture.input.operation}`];
  try {
    return mismatches(fixture.expected, operation(fixture)).map((difference) => `${path}: ${difference}`);
  } catch (error) {
    return [`${path}: the oracle cannot read the case: ${error.message}`];
  }
}

function fill(corpus, folder) {
  for (const [path, { fixture, text }] of corpus.cases) {
    if (fixture["x-case"].oracle !== ORACLE) continue;
    fixture.expected.manifest.files = manifestFiles(fixture.setup.dispatch_bundle[fixture.input.args.turn_id]);
    const filled = `${JSON.stringify(fixture, null, 2)}\n`;
    if (filled === text) continue;
    writeFileSync(join(dirname(resolve(folder)), path), filled);
    console.log(`filled ${basename(path)}`);
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
