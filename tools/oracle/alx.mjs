#!/usr/bin/env node
// An independent implementation of ALX 1.1 canonical text, digests and content ids.
//
// It shares no code with the Rust crates. Numbers and strings are written by JSON.stringify, which is
// the ECMAScript definition that the canonical form refers to; SHA-256 comes from node:crypto; Keccak-256
// and base32 are written out below. It reads documents as the reference does: the last of two
// equal keys wins, and integers become doubles. Documents that the corpus refuses are never computed.
//
//   node tools/oracle/alx.mjs --check corpus/alx   recompute every digest; exit 1 and name each difference
//   node tools/oracle/alx.mjs --fill corpus/alx    write the digests into the cases that name this oracle
//   node tools/oracle/alx.mjs --kb FILE            print the identity of one Knowledge Block envelope
//
// Node 20, no dependencies.

import { createHash } from "node:crypto";

import { runAsProgram } from "./cases.mjs";

export const KB_TAG = "KB_V1";
const HASH_SCOPE = ["type", "domain", "sources", "artifactHash", "tier", "payload", "derivation"];

// ---------------------------------------------------------------------------------------------------
// Canonical text
// ---------------------------------------------------------------------------------------------------

/** The canonical text of a parsed JSON value; throws if there is none (null, a non-finite number). */
export function canonicalText(value) {
  if (value === null) throw new Error("null has no canonical form");
  switch (typeof value) {
    case "number":
      if (!Number.isFinite(value)) throw new Error("a number that is not finite has no canonical form");
      return JSON.stringify(value);
    case "string":
    case "boolean":
      return JSON.stringify(value);
    case "object":
      return Array.isArray(value) ? arrayText(value) : objectText(value);
    default:
      throw new Error(`no canonical form for ${typeof value}`);
  }
}

function arrayText(items) {
  return `[${items.map(canonicalText).join(",")}]`;
}

// Array.prototype.sort without a comparator orders strings by UTF-16 code units, which is the rule.
function objectText(object) {
  const members = Object.keys(object).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonicalText(object[key])}`).join(",")}}`;
}

// ---------------------------------------------------------------------------------------------------
// Digests and content ids
// ---------------------------------------------------------------------------------------------------

export function sha256(bytes) {
  return createHash("sha256").update(bytes).digest();
}

const RATE_BYTES = 136;
const LANE = (1n << 64n) - 1n;

/** Legacy Keccak-256: the padding byte is 0x01, where the later SHA3-256 standard has 0x06. */
export function keccak256(bytes) {
  const padded = Buffer.alloc(Math.ceil((bytes.length + 1) / RATE_BYTES) * RATE_BYTES);
  Buffer.from(bytes).copy(padded);
  padded[bytes.length] ^= 0x01;
  padded[padded.length - 1] ^= 0x80;
  const state = new Array(25).fill(0n);
  for (let block = 0; block < padded.length; block += RATE_BYTES) {
    for (let lane = 0; lane < RATE_BYTES / 8; lane += 1) {
      state[lane] ^= padded.readBigUInt64LE(block + lane * 8);
    }
    permute(state);
  }
  const digest = Buffer.alloc(32);
  for (let lane = 0; lane < 4; lane += 1) digest.writeBigUInt64LE(state[lane], lane * 8);
  return digest;
}

function rotate(lane, by) {
  return by === 0 ? lane : ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & LANE;
}

// The 24 round constants, from the degree-8 shift register that defines them.
const ROUND_CONSTANTS = (() => {
  const constants = [];
  let register = 1;
  for (let round = 0; round < 24; round += 1) {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit += 1) {
      if (register & 1) constant |= 1n << BigInt((1 << bit) - 1);
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    }
    constants.push(constant);
  }
  return constants;
})();

// One round: theta, rho with pi, chi, iota. Lane (x, y) is state[x + 5 * y].
function permute(state) {
  for (const constant of ROUND_CONSTANTS) {
    const parity = [0, 1, 2, 3, 4].map(
      (x) => state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20],
    );
    for (let i = 0; i < 25; i += 1) {
      state[i] ^= parity[(i + 4) % 5] ^ rotate(parity[(i + 1) % 5], 1);
    }
    let [x, y, carried] = [1, 0, state[1]];
    for (let step = 0; step < 24; step += 1) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const next = state[x + 5 * y];
      state[x + 5 * y] = rotate(carried, (((step + 1) * (step + 2)) / 2) % 64);
      carried = next;
    }
    for (let row = 0; row < 25; row += 5) {
      const lanes = state.slice(row, row + 5);
      for (let i = 0; i < 5; i += 1) {
        state[row + i] = lanes[i] ^ (~lanes[(i + 1) % 5] & LANE & lanes[(i + 2) % 5]);
      }
    }
    state[0] ^= constant;
  }
}

const utf8 = (text) => Buffer.from(text, "utf8");
const hex = (digest) => `0x${digest.toString("hex")}`;

/** keccak256(tag followed by the canonical text), with nothing between the two. */
export function domainHash(tag, value) {
  return hex(keccak256(utf8(tag + canonicalText(value))));
}

export function artifactHash(payload) {
  return hex(keccak256(utf8(canonicalText(payload))));
}

/** CIDv1 of raw bytes (codec 0x55) by sha2-256 (0x12, 32 bytes), in lower-case base32 without padding. */
export function cidV1(bytes) {
  const id = Buffer.concat([Buffer.from([0x01, 0x55, 0x12, 0x20]), sha256(bytes)]);
  const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
  let [text, buffered, bits] = ["b", 0, 0];
  for (const byte of id) {
    buffered = ((buffered << 8) | byte) & 0xffff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += alphabet[(buffered >> (bits - 5)) & 31];
  }
  return bits === 0 ? text : text + alphabet[(buffered << (5 - bits)) & 31];
}

// ---------------------------------------------------------------------------------------------------
// Knowledge Block identity
// ---------------------------------------------------------------------------------------------------

/** The seven members in scope, absent ones left out, `sources` always present and sorted. */
export function normalisedEnvelope(envelope, sourcesMode = "as-is") {
  const scoped = {};
  for (const member of HASH_SCOPE) if (Object.hasOwn(envelope, member)) scoped[member] = envelope[member];
  const sources = [...(envelope.sources ?? envelope.parents ?? [])].sort();
  scoped.sources = sourcesMode === "dedup" ? [...new Set(sources)] : sources;
  return scoped;
}

export function kbIdentity(envelope, sourcesMode) {
  const scoped = normalisedEnvelope(envelope, sourcesMode);
  const canonical = canonicalText(scoped);
  return { kbHash: domainHash(KB_TAG, scoped), canonical, cid: cidV1(utf8(canonical)) };
}

/** The envelope of a derived block: prefixed ids, sorted sources, the two documented defaults. */
export function derivedEnvelope({ type, domain, payload, sources, derivation, tier }) {
  const prefixed = (id) => (id.startsWith("0x") ? id : `0x${id}`);
  const envelope = { type, domain, sources: sources.map(prefixed).sort(), payload };
  envelope.tier = tier ?? "open";
  envelope.artifactHash = artifactHash(payload);
  if (derivation !== undefined) {
    const inputs = derivation.inputs.map((input) => ({ ...input, kbId: prefixed(input.kbId) }));
    envelope.derivation = { ...derivation, inputs };
  }
  return envelope;
}

// ---------------------------------------------------------------------------------------------------
// Cases: what the oracle answers for an operation, as members of the case's `expected`
// ---------------------------------------------------------------------------------------------------

const OPERATIONS = {
  canonicalize: ({ json }) => {
    const canonical = canonicalText(JSON.parse(json));
    return {
      canonical,
      keccak256: hex(keccak256(utf8(canonical))),
      sha256: sha256(utf8(canonical)).toString("hex"),
    };
  },
  domain_hash: ({ tag, json }) => ({ hash: domainHash(tag, JSON.parse(json)) }),
  artifact_hash: ({ payload, bytesHex }) => ({
    artifactHash:
      payload === undefined ? hex(keccak256(Buffer.from(bytesHex, "hex"))) : artifactHash(JSON.parse(payload)),
  }),
  kb_hash: ({ envelope, sources }) => kbIdentity(JSON.parse(envelope), sources),
  kb_verify: ({ envelope }) => {
    const block = JSON.parse(envelope);
    const { kbHash } = kbIdentity(block);
    const claim = (claimed, computed) =>
      claimed === undefined ? "absent" : claimed === computed() ? "match" : "mismatch";
    const checks = {
      kbHash: claim(block.kbHash, () => kbHash),
      artifactHash: claim(block.artifactHash, () => artifactHash(block.payload)),
    };
    return { checks, valid: !Object.values(checks).includes("mismatch"), kbHash };
  },
  kb_register: ({ envelope }) => ({ kbHash: kbIdentity(JSON.parse(envelope)).kbHash }),
  kb_derive: (args) => {
    const envelope = derivedEnvelope(args);
    return { envelope, kbHash: kbIdentity(envelope).kbHash };
  },
};

/** Walks `expected` beside `answer`; `visit` gets every member that both have, leaf by leaf. */
function eachLeaf(expected, answer, path, visit) {
  for (const [member, value] of Object.entries(answer)) {
    if (!Object.hasOwn(expected, member)) continue;
    const at = `${path}/${member}`;
    const nested = value !== null && typeof value === "object" && !Array.isArray(value);
    const held = expected[member];
    if (nested) eachLeaf(held.assert === "equals" ? held.value : held, value, at, visit);
    else visit(expected, member, value, at);
  }
}

const DIGEST = /"(0x)?[0-9a-f]{64}"|"bafkrei[a-z2-7]{52}"/;

const ORACLE = {
  name: "alx.mjs",
  hasDigest: ({ expected }) => DIGEST.test(JSON.stringify(expected)),
  eachValue({ input: { operation, args }, expected }, visit) {
    if (!Object.hasOwn(OPERATIONS, operation)) throw new Error(`this oracle has no answer for ${operation}`);
    eachLeaf(expected, OPERATIONS[operation](args), "", visit);
  },
};

runAsProgram(import.meta.url, ORACLE, { verb: "--kb", of: kbIdentity });
