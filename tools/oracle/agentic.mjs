#!/usr/bin/env node
// An independent implementation of the Agentic Protocol's canonical JSON and package hashes.
//
// It shares no code with the Rust crates. Numbers and strings are written by JSON.stringify, which is the
// ECMAScript definition that RFC 8785 refers to; SHA-256 comes from node:crypto. What the corpus refuses
// (members named twice, integers that a double cannot hold, half surrogates) is never asked of it.
//
//   node tools/oracle/agentic.mjs --check corpus/agentic   recompute every digest; exit 1 and name each difference
//   node tools/oracle/agentic.mjs --fill corpus/agentic    write the digests into the cases that name this oracle
//   node tools/oracle/agentic.mjs --package FILE           print the canonical text and the hash of one package
//
// Node 20, no dependencies.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ORACLE = "node";

// ---------------------------------------------------------------------------------------------------
// Canonical text
// ---------------------------------------------------------------------------------------------------

/** The canonical text of a parsed JSON value: members by the bytes of their names, null members left out. */
export function canonicalText(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value)
    .filter((name) => value[name] !== null)
    .sort((one, other) => Buffer.compare(Buffer.from(one, "utf8"), Buffer.from(other, "utf8")));
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join(",")}}`;
}

export function sha256(text) {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** The hash of a package, given as the text that is sent. */
export function packageHash(text) {
  return sha256(canonicalText(JSON.parse(text)));
}

// ---------------------------------------------------------------------------------------------------
// Cases: which digests a step has, and where
// ---------------------------------------------------------------------------------------------------

const DIGEST = /^(sha256:)?[0-9a-f]{64}$/;

/** What each route's digests are computed from. */
const ROUTES = {
  deposit: packageHash,
  put_blob: sha256,
};

/** Calls `visit` for every place of a step that holds a digest, or waits for one. */
function eachDigest(step, at, visit) {
  const { route, path = {}, text } = step.request;
  if (text === undefined || !Object.hasOwn(ROUTES, route)) return;
  if (text.includes("${")) throw new Error(`${at}: a text with variables has no fixed digest`);
  const digest = ROUTES[route](text);
  if (Object.hasOwn(path, "digest")) visit(path, "digest", digest, `${at}/request/path/digest`);
  for (const [index, expected] of (step.expect ?? []).entries()) {
    for (const [number, check] of (expected.checks ?? []).entries()) {
      const awaited = check.check === "contains_text" && (check.text === "" || DIGEST.test(check.text));
      if (awaited) visit(check, "text", digest, `${at}/expect/${index}/checks/${number}/text`);
    }
  }
}

/** Compares (or, with `fill`, writes) one case; gives a list of complaints. */
function treatCase(document, fill) {
  const complaints = [];
  if (document.oracle === undefined) {
    if (/"(sha256:)?[0-9a-f]{64}"/.test(JSON.stringify(document.steps.map((step) => step.expect ?? [])))) {
      complaints.push("expects a digest and names no oracle");
    }
    return complaints;
  }
  if (document.oracle !== ORACLE) return complaints;
  let digests = 0;
  document.steps.forEach((step, index) => {
    eachDigest(step, `/steps/${index}`, (holder, member, digest, at) => {
      digests += 1;
      if (fill) holder[member] = digest;
      else if (holder[member] !== digest) {
        complaints.push(`${at}: the case has ${JSON.stringify(holder[member])}, the oracle ${JSON.stringify(digest)}`);
      }
    });
  });
  if (digests === 0) complaints.push("names the oracle and expects nothing that it computes");
  return complaints;
}

function caseFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".json") && /[/\\]/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

function main([verb, target, ...rest]) {
  if (!["--check", "--fill", "--package"].includes(verb) || target === undefined || rest.length > 0) {
    console.error("usage: agentic.mjs --check DIR | --fill DIR | --package FILE");
    return 2;
  }
  if (verb === "--package") {
    const canonical = canonicalText(JSON.parse(readFileSync(target, "utf8")));
    console.log(JSON.stringify({ canonical, content_hash: `sha256:${sha256(canonical)}` }, null, 2));
    return 0;
  }
  let [computed, complaints] = [0, 0];
  for (const file of caseFiles(target)) {
    const document = JSON.parse(readFileSync(file, "utf8"));
    if (document.oracle === ORACLE) computed += 1;
    for (const complaint of treatCase(document, verb === "--fill")) {
      console.error(`${file}: ${complaint}`);
      complaints += 1;
    }
    if (verb === "--fill" && document.oracle === ORACLE) {
      writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
    }
  }
  console.log(`${computed} cases computed, ${complaints} complaints`);
  return complaints === 0 ? 0 : 1;
}

const runAsProgram = process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (runAsProgram) process.exitCode = main(process.argv.slice(2));
