// Compares Accord with the reference implementation of AgentXchain on mutants of our own corpus.
//
//   node tools/differential/run.mjs --reference DIR --accord FILE [--mutants 3000] [--seed 1]
//                                   [--operation NAME] [--show CLASS] [--markdown]
//
// DIR is a checkout of shivamtiwari93/agentXchain.dev at a585dae0, with the packages of `cli`
// installed (`npm ci --omit=dev --ignore-scripts`). Its fixtures are not read. Every disagreement
// must belong to a class in verdicts.json; exit code 1 names those that do not.

import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { classOf, disagreement, signature } from './compare.mjs';
import { mutants } from './mutate.mjs';
import { Worker } from './worker.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: {
    reference: { type: 'string' },
    accord: { type: 'string' },
    corpus: { type: 'string', default: join(here, '../../corpus/agentxchain') },
    mutants: { type: 'string', default: '3000' },
    seed: { type: 'string', default: '1' },
    operation: { type: 'string' },
    show: { type: 'string' },
    markdown: { type: 'boolean', default: false },
  },
});
for (const name of ['reference', 'accord']) {
  if (!options[name]) {
    console.error(`--${name} is missing`);
    process.exit(2);
  }
}

/** The cases of the corpus. Those of a profile are left out: the reference has none. */
function corpus(root) {
  const files = readdirSync(root, { recursive: true }).filter((file) => /\/.*\.json$/.test(file));
  const cases = files.sort().map((file) => {
    const document = JSON.parse(readFileSync(join(root, file), 'utf8'));
    return { id: document.fixture_id, case: document.fixture_id, kind: '', path: [], document };
  });
  const wanted = (entry) =>
    !entry.document['x-case']?.profile &&
    (!options.operation || entry.document.input.operation === options.operation);
  return cases.filter(wanted);
}

const cases = corpus(options.corpus);
const changed = mutants(cases, Number(options.mutants), Number(options.seed));
const { classes } = JSON.parse(readFileSync(join(here, 'verdicts.json'), 'utf8'));

const reference = new Worker([process.execPath, join(here, 'reference.mjs'), options.reference]);
const accord = new Worker([options.accord, 'adapter', 'agentxchain', '--lines']);

// A path that is wrong must not look like an implementation that answers nothing.
for (const [name, worker] of Object.entries({ reference, accord })) {
  if ((await worker.ask(cases[0].document)).status === 'gone') {
    console.error(`--${name} ${options[name]} does not run`);
    process.exit(2);
  }
}

/** What two implementations disagree about, among some cases. */
async function compare(entries) {
  const found = [];
  for (const entry of entries) {
    const answers = await Promise.all([reference.ask(entry.document), accord.ask(entry.document)]);
    const differs = disagreement(entry, ...answers);
    if (differs) found.push(differs);
  }
  return found;
}

const sets = { cases: await compare(cases), mutants: await compare(changed) };
reference.end();
accord.end();

// A mutant of a case that the two see differently anyway says nothing new.
const known = new Map(sets.cases.map((found) => [found.case, found]));
const inherits = (found) => {
  const base = known.get(found.case);
  return base && ['reference', 'accord', 'members'].every((name) => base[name] === found[name]);
};

const counts = new Map(classes.map((reviewed) => [reviewed, { cases: 0, mutants: 0 }]));
const unreviewed = new Map();
for (const [set, list] of Object.entries(sets)) {
  for (const found of list) {
    const seen = inherits(found) ? known.get(found.case) : found;
    const reviewed = classOf(seen, classes);
    if (reviewed) counts.get(reviewed)[set] += 1;
    else unreviewed.set(signature(seen), [...(unreviewed.get(signature(seen)) ?? []), found.id]);
    const name = reviewed?.name ?? 'unreviewed';
    if (options.show === name) console.log(JSON.stringify(found));
  }
}

const agree = (set, all) => all.length - sets[set].length;
const row = (cells) => (options.markdown ? `| ${cells.join(' | ')} |` : cells.join('\t'));
console.log(row(['', 'cases', 'mutants', 'verdict', 'reason']));
if (options.markdown) console.log('|---|---|---|---|---|');
console.log(row(['run', cases.length, changed.length, '', '']));
console.log(row(['agree', agree('cases', cases), agree('mutants', changed), '', '']));
for (const [reviewed, { cases: own, mutants: made }] of counts) {
  if (own + made) console.log(row([reviewed.name, own, made, reviewed.verdict, reviewed.why]));
}
for (const [name, ids] of [...unreviewed].sort((one, other) => other[1].length - one[1].length)) {
  console.error(`unreviewed, ${ids.length}: ${name}\n    ${ids[0]}`);
}
if (unreviewed.size) {
  const file = relative(process.cwd(), join(here, 'verdicts.json'));
  console.error(`${unreviewed.size} classes have no verdict in ${file}`);
  process.exitCode = 1;
}
