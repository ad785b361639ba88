// Dispatch bundles: their manifest, and the verification after changes to them.

import { createHash } from "node:crypto";

const MANIFEST = "MANIFEST.json";
const VERSION = "1.0";

/** Path, SHA-256 and size of every file of a bundle but the manifest itself, in the order of the paths. */
export function manifestFiles(bundle) {
  const paths = Object.keys(bundle).filter((path) => path !== MANIFEST).sort();
  return paths.map((path) => ({
    path,
    sha256: createHash("sha256").update(bundle[path], "utf8").digest("hex"),
    size: Buffer.byteLength(bundle[path], "utf8"),
  }));
}

function finalize({ setup, input }) {
  const bundle = setup.dispatch_bundle?.[input.args.turn_id];
  const files = bundle && manifestFiles(bundle);
  if (!files || files.length === 0) return null;
  const turn = setup.state.active_turns[input.args.turn_id];
  const identity = { run_id: setup.state.run_id, turn_id: input.args.turn_id, role: turn.role };
  return { bundle, manifest: { manifest_version: VERSION, ...identity, finalized_at: "the time of the run", files } };
}

const NOT_FINALIZED = { result: "error", error_type: "finalization_failed" };

export function inspectManifest(fixture) {
  const made = finalize(fixture);
  if (!made) return NOT_FINALIZED;
  const paths = made.manifest.files.map(({ path }) => path);
  return { result: "success", manifest_contains_self: paths.includes(MANIFEST), file_paths: paths };
}

export function verifyManifest(fixture) {
  const made = finalize(fixture);
  if (!made) return NOT_FINALIZED;
  const { setup, input } = fixture;
  const after = (name) => setup[`post_finalize_${name}`]?.[input.args.turn_id];
  const files = { ...made.bundle, ...after("inject"), ...after("tamper") };
  for (const path of after("delete") ?? []) delete files[path];
  let text = setup.post_finalize_delete_manifest ? null : JSON.stringify(made.manifest);
  const corrupt = after("corrupt_manifest");
  if (corrupt !== undefined) text = typeof corrupt === "string" ? corrupt : JSON.stringify(corrupt);
  const errors = violations(text, files);
  if (errors.length > 0) return { result: "error", error_type: errors[0].type, verification_errors: errors };
  return { result: "success", manifest_valid: true, manifest: JSON.parse(text), verification_errors: [] };
}

function violations(text, files) {
  const error = (type, path) => ({ type, ...(path ? { path } : {}), detail: "what is wrong, in words" });
  if (text === null) return [error("missing_manifest")];
  const manifest = parsed(text);
  if (!manifest?.manifest_version || !Array.isArray(manifest.files)) return [error("invalid_manifest")];
  const actual = new Map(manifestFiles(files).map((entry) => [entry.path, entry]));
  const named = new Set(manifest.files.map(({ path }) => path));
  const ofEntry = ({ path, size, sha256 }) => {
    const found = actual.get(path);
    if (!found) return [error("missing_file", path)];
    return [
      ...(found.size === size ? [] : [error("size_mismatch", path)]),
      ...(found.sha256 === sha256 ? [] : [error("digest_mismatch", path)]),
    ];
  };
  const unexpected = [...actual.keys()].filter((path) => !named.has(path));
  return [...manifest.files.flatMap(ofEntry), ...unexpected.map((path) => error("unexpected_file", path))];
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
