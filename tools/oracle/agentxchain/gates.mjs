// The gates: when a phase or a run may end, and the exact reasons if not.

import { posix } from "node:path";

const section = (text, header) => {
  const lines = text.split("\n").map((line) => line.trim());
  const start = lines.findIndex((line) => line.startsWith(header));
  if (start < 0) return null;
  const end = lines.findIndex((line, index) => index > start && line.startsWith("## "));
  return lines.slice(start + 1, end < 0 ? undefined : end).filter((line) => line !== "");
};
const token = (text) => text.trim().replace(/\s+/g, " ").toUpperCase();
const firstLine = (text, pattern) => pattern.exec(text)?.[1].trim() ?? null;

function signoff(text) {
  const value = firstLine(text, /^Approved\s*:\s*(.+)$/im);
  if (value === null) return "PM signoff must declare `Approved: YES` in .planning/PM_SIGNOFF.md.";
  if (token(value) === "YES") return null;
  return `PM signoff is not approved. Found "Approved: ${value}" in .planning/PM_SIGNOFF.md; set it to "Approved: YES".`;
}

function shipVerdict(text) {
  const value = firstLine(text, /^##\s+Verdict\s*:\s*(.+)$/im);
  if (value === null) return OWN_WORDS;
  if (["YES", "SHIP", "SHIP IT"].includes(token(value))) return null;
  return `Ship verdict is not affirmative. Found "## Verdict: ${value}" in .planning/ship-verdict.md; use "## Verdict: YES".`;
}

function systemSpec(text) {
  const sections = ["## Purpose", "## Interface", "## Acceptance Tests"];
  const missing = sections.filter((header) => !text.includes(header));
  if (missing.length > 0) return `.planning/SYSTEM_SPEC.md must define ${missing.join(", ")} before planning can exit.`;
  const placeholder = (line) => /^\(.*\)$/.test(line) || line.startsWith("- [ ] Name the executable checks");
  const filled = (header) => section(text, header).some((line) => !placeholder(line));
  return sections.every(filled) ? null : OWN_WORDS;
}

const notes = (file, headers, placeholder, advice) => (text) => {
  const contents = headers.map((header) => section(text, header));
  if (contents.includes(null)) return OWN_WORDS;
  const isReal = (line) => line.toLowerCase() !== placeholder.toLowerCase();
  const empty = headers.filter((_, index) => !contents[index].some(isReal));
  return empty.length === 0 ? null : `${empty.join(" and ")} in ${file} still contains only placeholder text. ${advice}`;
};

function acceptanceMatrix(text) {
  const lines = text.split("\n").map((line) => line.trim());
  const header = lines.findIndex((line) => /^\|\s*Req\s*#\s*\|/i.test(line));
  if (header < 0) return OWN_WORDS;
  const after = lines.slice(header + 1);
  const end = after.findIndex((line) => !line.startsWith("|"));
  const cells = (line) => line.replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
  const rows = after.slice(0, end < 0 ? undefined : end).map(cells)
    .filter((row) => !row.every((cell) => /^:?-{3,}:?$/.test(cell)))
    .filter((row) => row[0] !== "" && row[0] !== "(QA fills this from ROADMAP.md)");
  if (rows.length === 0)
    return "Acceptance matrix has no real requirement verdict rows. Replace the scaffold placeholder with QA-owned requirement results before requesting ship approval.";
  const passes = (row) => ["PASS", "PASSED", "OK", "YES"].includes(token(row.at(-1)));
  return rows.every(passes) ? null : OWN_WORDS;
}

const EVALUATORS = {
  ".planning/PM_SIGNOFF.md": signoff,
  ".planning/ship-verdict.md": shipVerdict,
  ".planning/SYSTEM_SPEC.md": systemSpec,
  ".planning/IMPLEMENTATION_NOTES.md": notes(".planning/IMPLEMENTATION_NOTES.md", ["## Changes", "## Verification"],
    "(Dev fills this during implementation)", "Dev must replace placeholder content with real implementation notes."),
  ".planning/acceptance-matrix.md": acceptanceMatrix,
  ".planning/RELEASE_NOTES.md": notes(".planning/RELEASE_NOTES.md", ["## User Impact", "## Verification Summary"],
    "(QA fills this during the QA phase)", "QA must replace placeholder content with real release notes."),
};

/** A reason whose wording is free. */
const OWN_WORDS = "the implementation says this in its own words";

/** Why a gate fails, or null if it passes. */
function whyShut(gate, files, verification) {
  const required = (gate.requires_files ?? []).map((path) => posix.normalize(path.trim()));
  if (required.some((path) => files[path] === undefined)) return "requires_files predicate failed";
  if (gate.requires_verification_pass && verification !== "pass") return "requires_verification_pass predicate failed";
  const reasons = required.map((path) => EVALUATORS[path]?.(files[path]) ?? null);
  return reasons.find((reason) => reason !== null) ?? null;
}

const facts = ({ setup }) => {
  const { routing, gates } = setup.config;
  const phases = Object.keys(routing);
  const gate = routing[setup.state.phase].exit_gate;
  return { phases, phase: setup.state.phase, gate, rules: gates[gate] ?? {}, files: setup.filesystem ?? {}, verification: setup.turn_result.verification.status };
};

export function evaluatePhaseExit(fixture) {
  const { phases, phase, rules, files, verification } = facts(fixture);
  const to = fixture.input.args.requested_phase;
  if (!phases.includes(to)) return { result: "error", action: "gate_error", error_type: "unknown_phase", state_unchanged: true };
  const shut = phases.indexOf(to) === phases.indexOf(phase) + 1 ? whyShut(rules, files, verification) : OWN_WORDS;
  if (shut) return { result: "success", action: "gate_failed", reason: shut, phase_unchanged: true, state_unchanged: true };
  if (rules.requires_human_approval)
    return { result: "success", action: "awaiting_human_approval", new_status: "paused", pending_phase_transition: { from: phase, to } };
  return { result: "success", action: "advance", new_phase: to };
}

export function evaluateRunCompletion(fixture) {
  const { phases, phase, gate, rules, files, verification } = facts(fixture);
  if (phase !== phases.at(-1)) {
    const reason = `Run completion requested but current phase "${phase}" is not the final phase "${phases.at(-1)}"`;
    return { result: "success", action: "not_final_phase", reason, state_unchanged: true };
  }
  const shut = whyShut(rules, files, verification);
  if (shut) return { result: "success", action: "gate_failed", reason: shut, state_unchanged: true };
  if (rules.requires_human_approval)
    return { result: "success", action: "awaiting_human_approval", new_status: "paused", pending_run_completion: { phase, gate } };
  return { result: "success", action: "complete", new_status: "completed" };
}
