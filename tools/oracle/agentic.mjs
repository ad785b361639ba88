#!/usr/bin/env node
// An independent implementation of the Agentic Protocol's canonical JSON and package hashes.
//
// It shares no code with the Rust crates. Numbers and strings are written by JSON.stringify, which is the
// ECMAScript definition that RFC 8785 refers to; SHA-256 comes from node:crypto. Documents that the
// corpus refuses (duplicate members, integers that no double has, lone surrogates) are never computed.
//
//   node tools/oracle/agentic.mjs --check corpus/agentic   recompute every digest; exit 1 and name each difference
//   node tools/oracle/agentic.mjs --fill corpus/agentic    write the digests into the cases that name this oracle
//   node tools/oracle/agentic.mjs --package FILE           print the canonical text and the hash of one package
//
// Node 20, no dependencies.

import { createHash } from "node:crypto";

import { runAsProgram } from "./cases.mjs";

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

/** Calls `visit` for every place of a step that has a digest, or needs one. */
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

const ORACLE = {
  name: "agentic.mjs",
  hasDigest: ({ steps }) => /"(sha256:)?[0-9a-f]{64}"/.test(JSON.stringify(steps.map((step) => step.expect ?? []))),
  eachValue: ({ steps }, visit) => steps.forEach((step, index) => eachDigest(step, `/steps/${index}`, visit)),
};

runAsProgram(import.meta.url, ORACLE, {
  verb: "--package",
  of(document) {
    const canonical = canonicalText(document);
    return { canonical, content_hash: `sha256:${sha256(canonical)}` };
  },
});
