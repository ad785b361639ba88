#!/usr/bin/env node
// An independent implementation of the enforced props schema of ggui, its hash and profile, and of the keys of
// contracts and variances.
//
// It shares no code with the Rust crates. Numbers and strings are written by JSON.stringify, which is the
// ECMAScript definition that RFC 8785 refers to; SHA-256 comes from node:crypto, normalisation from the engine.
//
//   node tools/oracle/ggui.mjs --check corpus/ggui   recompute every digest; exit 1 and name each difference
//   node tools/oracle/ggui.mjs --fill corpus/ggui    write the digests into the cases that name this oracle
//   node tools/oracle/ggui.mjs --contract FILE       print what is computed for one contract
//
// Node 20, no dependencies.

import { createHash } from "node:crypto";

import { runAsProgram } from "./cases.mjs";

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

/** Applies a function to the members of an object. */
function mapMembers(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

// ---------------------------------------------------------------------------------------------------
// Canonical text (RFC 8785)
// ---------------------------------------------------------------------------------------------------

export function canonicalText(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  // The default order of strings is that of their UTF-16 code units.
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalText(value[name])}`).join(",")}}`;
}

export function sha256(text) {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

// ---------------------------------------------------------------------------------------------------
// The enforced props schema
// ---------------------------------------------------------------------------------------------------

const typesOf = (schema) => (Array.isArray(schema.type) ? schema.type : schema.type === undefined ? [] : [schema.type]);

/** Applies a function to the schemas directly inside a schema. */
function mapSchemas(schema, change) {
  return mapMembers(schema, (value, keyword) => {
    if (keyword === "properties" && isObject(value)) return mapMembers(value, change);
    if ((keyword === "oneOf" || keyword === "anyOf") && Array.isArray(value)) return value.map(change);
    if ((keyword === "items" || keyword === "additionalProperties") && isObject(value)) return change(value);
    return value;
  });
}

/** Closes every object that says nothing about additional properties. */
function closed(schema) {
  if (!isObject(schema)) return schema;
  const result = mapSchemas(schema, closed);
  const describesObject = schema.properties !== undefined || typesOf(schema).includes("object");
  if (describesObject && schema.additionalProperties === undefined) result.additionalProperties = false;
  return result;
}

/** Sorts names and `required`, leaves `example` out, and makes `nullable` a type. */
function canonicalSchema(schema) {
  if (!isObject(schema)) return schema;
  const { example: _example, nullable, ...rest } = mapSchemas(schema, canonicalSchema);
  if (nullable === true && rest.type !== undefined) {
    const types = typesOf(rest).includes("null") ? typesOf(rest) : [...typesOf(rest), "null"];
    rest.type = types.length === 1 ? types[0] : types;
  }
  if (Array.isArray(rest.required)) rest.required = [...rest.required].sort();
  if (isObject(rest.properties)) rest.properties = sorted(rest.properties);
  return sorted(rest);
}

const sorted = (object) => Object.fromEntries(Object.keys(object).sort().map((name) => [name, object[name]]));

export function enforcedSchema(propsSpec) {
  const props = Object.entries(propsSpec?.properties ?? {});
  return canonicalSchema(
    closed({
      type: "object",
      properties: Object.fromEntries(props.map(([name, entry]) => [name, entry.schema])),
      required: props.filter(([, entry]) => entry.required === true).map(([name]) => name),
    }),
  );
}

const PLAIN = new Set(["type", "enum", "const", "required", "description", "title", "aliases"]);
const FORMATS = new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" "));

function isGrammarSafe(schema) {
  if (!isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (PLAIN.has(keyword)) return true;
    if (keyword === "format") return FORMATS.has(value);
    if (keyword === "additionalProperties") return value === false;
    if (keyword === "properties") return Object.values(value).every(isGrammarSafe);
    if (keyword === "items") return isGrammarSafe(value);
    if (keyword === "oneOf" || keyword === "anyOf") return value.every(isGrammarSafe);
    return false;
  });
}

function propsSchema({ propsSpec }) {
  const schema = enforcedSchema(propsSpec);
  return {
    schema,
    text: canonicalText(schema),
    hash: sha256(canonicalText(schema)),
    profile: isGrammarSafe(schema) ? "grammar-safe" : "full",
  };
}

// ---------------------------------------------------------------------------------------------------
// Keys of contracts and variances
// ---------------------------------------------------------------------------------------------------

const shortKey = (value) => sha256(canonicalText(value)).slice(0, 16);

/** Composes every text; leaves out texts that explain, if asked for. */
function normal(value, strips) {
  if (typeof value === "string") return value.normalize("NFC");
  if (Array.isArray(value)) return value.map((item) => normal(item, strips));
  if (!isObject(value)) return value;
  const explains = ([name, text]) =>
    strips && (name === "description" || name === "usage") && typeof text === "string";
  const kept = Object.entries(value).filter((member) => !explains(member));
  return Object.fromEntries(kept.map(([name, member]) => [name.normalize("NFC"), normal(member, strips)]));
}

export function contractKey({ contract }) {
  const copy = structuredClone(contract);
  for (const tool of Object.values(copy.agentCapabilities?.tools ?? {})) delete tool.serverInfo?.version;
  return { key: shortKey(normal(copy, true)) };
}

/** A value without empty members; undefined if nothing is left. */
function withoutEmpty(value) {
  if (value === null || value === undefined || value === "") return undefined;
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpty).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(mapMembers(value, withoutEmpty)).filter(([, member]) => member !== undefined);
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

export function variantKey({ variance }) {
  return { key: shortKey(withoutEmpty(normal(variance, false)) ?? {}) };
}

// ---------------------------------------------------------------------------------------------------
// Cases
// ---------------------------------------------------------------------------------------------------

/** What each operation's answer has that is computed here. */
const OPERATIONS = {
  props_schema: propsSchema,
  contract_hash: contractKey,
  variant_key: variantKey,
};

const ORACLE = {
  name: "ggui.mjs",
  hasDigest: ({ expected }) => /"(sha256:)?[0-9a-f]{64}"/.test(JSON.stringify(expected ?? {})),
  eachValue({ input, expected }, visit) {
    const compute = OPERATIONS[input?.operation];
    if (compute === undefined) throw new Error(`nothing is computed for ${input?.operation}`);
    for (const [member, value] of Object.entries(compute(input.args))) {
      if (Object.hasOwn(expected, member)) visit(expected, member, value, `/expected/${member}`);
    }
  },
};

runAsProgram(import.meta.url, ORACLE, {
  verb: "--contract",
  of: (contract) => ({ ...contractKey({ contract }), props: propsSchema(contract) }),
});
