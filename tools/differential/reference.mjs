// Runs cases on the reference, one per line of standard input, in a process of its own: a case
// must not end, block or litter the program that compares.
//
//   node reference.mjs REFERENCE_CHECKOUT

import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ADAPTER = 'cli/src/lib/reference-conformance-adapter.js';

const { runReferenceFixture } = await import(pathToFileURL(join(process.argv[2], ADAPTER)));
// The reference prints warnings; standard output is for answers.
console.log = console.warn = console.error = () => {};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    answer = runReferenceFixture(JSON.parse(line));
  } catch (error) {
    answer = { status: 'crash', message: String(error?.message ?? error), actual: null };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
