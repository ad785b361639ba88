// Compares Accord with the reference implementation of AOF/1, in four parts: the reference reads
// what Accord writes, Accord reads what the reference writes, the reference runs the corpus, and
// both run the scenarios of known failures.
//
//   node tools/differential/aof.mjs --reference DIR --accord FILE [--markdown] [--keep DIR]
//
// DIR is a checkout of d0labs/aof at 2700399 or of Seldon-Engine/aof at ef65d62 that its own build
// has compiled to `dist`. Every finding must belong to a class of aof-verdicts.json; exit code 1
// names those that do not.

import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { CASES, scenarios } from './aof-failures.mjs';
import { names, readTree } from './aof-read.mjs';
import { load } from './aof-reference.mjs';
import { report, writeWithAccord, writeWithReference } from './aof-trees.mjs';
import { classOf } from './compare.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: {
    reference: { type: 'string' },
    accord: { type: 'string' },
    keep: { type: 'string' },
    markdown: { type: 'boolean', default: false },
  },
});
for (const name of ['reference', 'accord']) {
  if (!options[name]) {
    console.error(`--${name} is missing`);
    process.exit(2);
  }
}
const program = resolve(options.accord);
const scratch = options.keep ? resolve(options.keep) : mkdtempSync(join(tmpdir(), 'accord-differential-'));
process.on('exit', () => options.keep || rmSync(scratch, { recursive: true, force: true }));
const reference = await load(options.reference);
// The reference prints warnings about what it reads.
const say = console.log;
console.log = console.info = console.warn = () => {};

const environment = {
  PATH: process.env.PATH, HOME: scratch, XDG_STATE_HOME: scratch, ACCORD_ACTOR: 'human:lead', NO_COLOR: '1',
};

/** Runs commands of Accord in a tree. */
function commands(root, project = ['--project', 'shop']) {
  const words = ([verb, ...args]) => ['task', ...verb.split(' '), '--root', root, ...(verb === 'init' ? project : []), ...args];
  const run = (args, input = '') => {
    const ran = spawnSync(program, words(args), { input, encoding: 'utf8', env: environment, cwd: root });
    // Findings of lint are an answer.
    const isAnswered = ran.status === 0 || (ran.status === 1 && args[0] === 'lint');
    if (!isAnswered) throw new Error(`accord task ${args.join(' ')}: ${ran.stderr || ran.error}`);
    return ran.stdout;
  };
  /** The same, while others run. */
  const runs = (args) =>
    new Promise((resolve, reject) => {
      execFile(program, words(args), { encoding: 'utf8', env: environment, cwd: root }, (error, stdout) =>
        error ? reject(error) : resolve(stdout));
    });
  const ask = (verb, ...args) => JSON.parse(run([verb, '--json', ...args])).result;
  return { run, runs, ask };
}

const found = [];
const find = (part, place, problem, more = {}) => found.push({ part, place, problem, ...more });
const counts = {};

/** What two readers of one tree see differently in its tasks. */
function sameTasks(part, { ask }, tasks) {
  const list = ask('list', '--all', '--limit', '500').tasks;
  const seen = new Map(list.map((task) => [task.id, task]));
  for (const id of seen.keys()) if (!tasks.has(id)) find(part, id, 'only Accord lists the task');
  for (const [id, { frontmatter: front, body }] of tasks) {
    if (!seen.has(id)) {
      find(part, id, 'only the reference lists the task');
      continue;
    }
    const { task } = ask('show', id);
    const both = {
      title: [front.title, task.title], status: [front.status, task.status], priority: [front.priority, task.priority],
      agent: [front.routing.agent, task.agent], role: [front.routing.role, task.role], team: [front.routing.team, task.team],
      tags: [front.routing.tags, task.tags], lease: [front.lease?.agent, task.lease?.agent],
      dependsOn: [front.dependsOn, task.depends_on.map(({ id }) => id)], parentId: [front.parentId, task.parent],
      resource: [front.resource, task.resource], createdBy: [front.createdBy, task.created_by], metadata: [front.metadata, task.metadata],
      createdAt: [front.createdAt, task.created_at], body: [body, (task.body ?? '').trim()],
    };
    for (const [name, [one, other]] of Object.entries(both)) {
      if (JSON.stringify(one ?? null) !== JSON.stringify(other ?? null)) {
        find(part, id, `${name}: the reference reads ${JSON.stringify(one)}, Accord ${JSON.stringify(other)}`);
      }
    }
  }
}

/** The reference reads a tree that Accord wrote. */
async function readByReference(place, root) {
  const read = await readTree(reference, root);
  for (const { file, kind, problem } of read.found) {
    find('written by Accord', `${place}/${relative(root, file)}`, problem, { kind });
  }
  counts.files = (counts.files ?? 0) + read.files;
  counts.trees = (counts.trees ?? 0) + 1;
  return read.tasks;
}

/** Every folder below one that has tasks. */
function treesBelow(folder) {
  if (names(folder).includes('tasks')) return [folder];
  return names(folder).filter((name) => !name.includes('.')).flatMap((name) => treesBelow(join(folder, name)));
}

// 1. What Accord writes: trees of commands, and those of the corpus.
for (const layout of ['guide', 'upstream']) {
  const root = join(scratch, 'accord', layout);
  mkdirSync(root, { recursive: true });
  const tree = commands(root);
  writeWithAccord(tree, layout);
  sameTasks('written by Accord', tree, await readByReference(`commands/${layout}`, root));
}
const kept = join(scratch, 'corpus');
const checked = spawnSync(program, ['check', 'aof', '--keep-folders', kept], { encoding: 'utf8', env: environment });
if (checked.status !== 0) find('corpus', 'accord check aof', checked.stdout.trim().split('\n').at(-1) ?? '');
for (const root of treesBelow(kept)) await readByReference(relative(kept, root), root);

// 2. What the reference writes.
const { root, first } = await writeWithReference(reference, join(scratch, 'reference'));
const tree = commands(root);
const written = await readTree(reference, root);
counts.tasks = written.tasks.size;
sameTasks('written by the reference', tree, written.tasks);
for (const { code, path } of tree.ask('lint', '--limit', '1000').findings ?? []) {
  find('written by the reference', path, `lint: ${code}`, { kind: 'lint' });
}
tree.run(['board']);
// Accord works on it, and the reference reads the result.
tree.run(['claim', first, '--as', 'dev']);
tree.run(['message'], JSON.stringify(report(first, 'dev', 'done')));
tree.run(['approve', first, '--yes']);
tree.run(['poll']);
const after = await readTree(reference, root);
if (after.tasks.get(first)?.frontmatter.status !== 'done') find('written by the reference', first, 'the reference does not see that the task is done');
sameTasks('written by the reference', tree, after.tasks);

// 3. The corpus on the reference. Its failures are the reference's, or choices of Accord.
const adapter = `${process.execPath} ${join(here, 'aof-reference.mjs')} ${resolve(options.reference)}`;
const ran = spawnSync(program, ['check', 'aof', '--command', adapter, '--lines', '--format', 'json'], {
  encoding: 'utf8', env: environment, maxBuffer: 1 << 28,
});
const { cases } = JSON.parse(ran.stdout);
const verdicts = new Map(cases.map((entry) => [entry.id, entry.verdict]));
for (const { id, verdict, message = '', clauses = [] } of cases) {
  counts[`cases ${verdict}`] = (counts[`cases ${verdict}`] ?? 0) + 1;
  if (verdict !== 'pass' && verdict !== 'not_implemented') find('corpus', id.replace(/^aof\//, ''), `${verdict}: ${message.slice(0, 160)}`, { clauses: clauses.join(' ') });
}

// 4. Known failures.
const rows = await scenarios({ reference, directory: resolve(options.reference), program, scratch: join(scratch, 'failures') }, (folder) => {
  const { run, runs } = commands(folder);
  return { run: (...words) => run(words), runs: (...words) => runs(words) };
});
for (const row of rows) if (row.accord !== row.good) find('failure', row.name, `Accord: ${row.accord}`);
for (const [failure, ids] of Object.entries(CASES)) {
  for (const id of ids) rows.push({ failure: Number(failure), name: id, good: 'pass', reference: verdicts.get(`aof/${id}`), accord: 'pass' });
}

// The report.
const { classes } = JSON.parse(readFileSync(join(here, 'aof-verdicts.json'), 'utf8'));
const totals = new Map(classes.map((reviewed) => [reviewed, 0]));
const unreviewed = [];
for (const entry of found) {
  const reviewed = classOf({ kind: '', clauses: '', ...entry }, classes);
  if (reviewed) totals.set(reviewed, totals.get(reviewed) + 1);
  else unreviewed.push(entry);
}
const row = (cells) => (options.markdown ? `| ${cells.join(' | ')} |` : cells.join('\t'));
const table = (head, lines) => {
  say(row(head));
  if (options.markdown) say(`|${'---|'.repeat(head.length)}`);
  lines.forEach((cells) => say(row(cells)));
  say('');
};
table(['counted', ''], Object.entries(counts).sort());
table(['class', 'findings', 'verdict', 'reason'], [...totals].filter(([, count]) => count).map(([{ name, verdict, why }, count]) => [name, count, verdict, why]));
table(['failure', 'case or scenario', 'the reference', 'Accord'],
  rows.sort((one, other) => one.failure - other.failure).map(({ failure, name, reference, accord }) => [failure, name, reference, accord]));
for (const { part, place, problem, clauses } of unreviewed) {
  console.error(`unreviewed: ${part}: ${place}: ${problem}${clauses ? ` (${clauses})` : ''}`);
}
if (unreviewed.length) {
  console.error(`${unreviewed.length} findings have no verdict in ${relative(process.cwd(), join(here, 'aof-verdicts.json'))}`);
  process.exitCode = 1;
}
