// Applies an oracle to the cases of a corpus: reads the files, compares the computed values with the expected
// ones, or writes them into the cases. The oracle decides what is computed.
//
// Node 20, no dependencies.

import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The name by which a case says that its digests are computed. */
const ORACLE = "node";

/**
 * Compares (or, with `fill`, writes) what one case expects; returns a list of problems.
 *
 * `hasDigest` tells whether a case expects a digest at all; `eachValue` calls back with the holder, the member, the
 * value and the place of everything that the oracle computes for it, and throws if it has no answer.
 */
function treatCase(document, { hasDigest, eachValue }, fill) {
  if (document.oracle === undefined) {
    return hasDigest(document) ? ["expects a digest and names no oracle"] : [];
  }
  if (document.oracle !== ORACLE) return [];
  const complaints = [];
  let values = 0;
  const visit = (holder, member, value, at) => {
    values += 1;
    if (fill) holder[member] = value;
    else if (JSON.stringify(holder[member]) !== JSON.stringify(value)) {
      complaints.push(`${at}: the case has ${JSON.stringify(holder[member])}, the oracle ${JSON.stringify(value)}`);
    }
  };
  try {
    eachValue(document, visit);
  } catch (error) {
    return [`cannot be computed: ${error.message}`];
  }
  if (values === 0) complaints.push("names the oracle and expects nothing that it computes");
  return complaints;
}

function caseFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".json") && /[/\\]/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** Processes every case below a folder; returns the exit code. */
function treatCorpus(folder, oracle, fill) {
  let [computed, complaints] = [0, 0];
  for (const file of caseFiles(folder)) {
    const document = JSON.parse(readFileSync(file, "utf8"));
    for (const complaint of treatCase(document, oracle, fill)) {
      console.error(`${file}: ${complaint}`);
      complaints += 1;
    }
    if (document.oracle !== ORACLE) continue;
    computed += 1;
    if (fill) writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
  }
  console.log(`${computed} cases computed, ${complaints} complaints`);
  return complaints === 0 ? 0 : 1;
}

/**
 * Runs an oracle as a program, if it is the started script. `print` has the option that prints what the oracle
 * computes for one JSON file, and the function that does it.
 */
export function runAsProgram(url, oracle, print) {
  if (!process.argv[1] || realpathSync(process.argv[1]) !== fileURLToPath(url)) return;
  const [verb, target, ...rest] = process.argv.slice(2);
  if (!["--check", "--fill", print.verb].includes(verb) || target === undefined || rest.length > 0) {
    console.error(`usage: ${oracle.name} --check DIR | --fill DIR | ${print.verb} FILE`);
    process.exitCode = 2;
  } else if (verb === print.verb) {
    console.log(JSON.stringify(print.of(JSON.parse(readFileSync(target, "utf8"))), null, 2));
  } else {
    process.exitCode = treatCorpus(target, oracle, verb === "--fill");
  }
}
