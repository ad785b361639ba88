// Counts the tokens of the calibration texts with the public tokenizers cl100k and o200k, and
// writes the counts beside each text.
//
// The estimate in crates/base/src/tokens.rs must never be below these counts. The project
// itself has no tokenizer: install one outside of it, then name the folder.
//
//   npm install --prefix /tmp/tokens gpt-tokenizer@4
//   node tools/tokens/measure.mjs /tmp/tokens crates/base/tests/suite/calibration.json

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [folder, file] = process.argv.slice(2);
if (!file) {
  console.error("usage: node tools/tokens/measure.mjs FOLDER FILE");
  process.exit(2);
}
const require = createRequire(resolve(folder, "package.json"));
const encodings = ["cl100k", "o200k"].map((name) => [
  name,
  require(`gpt-tokenizer/encoding/${name}_base`),
]);
const texts = JSON.parse(readFileSync(file, "utf8"));
for (const entry of texts) {
  for (const [name, encoding] of encodings) {
    entry[name] = encoding.encode(entry.text).length;
  }
}
writeFileSync(file, JSON.stringify(texts, null, 1) + "\n");
