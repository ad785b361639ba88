// Failures of the reference that Accord must not have: cases of the corpus that show them, and
// scenarios for those that no case can show, because they need several processes or many runs.
//
// A scenario gives an outcome in a few words. It holds if the outcome is `good`.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { names } from './aof-read.mjs';
import { openTree, poll } from './aof-reference.mjs';
import { Worker } from './worker.mjs';

const STATUSES = ['backlog', 'ready', 'in-progress', 'blocked', 'review', 'done', 'cancelled', 'deadletter'];
const MANY = 20;

/** The files of tasks, as `status/id`. */
const taskFiles = (root) =>
  STATUSES.flatMap((status) =>
    names(join(root, 'tasks', status)).filter((name) => name.endsWith('.md')).map((name) => `${status}/${name.slice(0, -3)}`));

const settled = async (promises) => (await Promise.allSettled(promises)).filter(({ status }) => status === 'fulfilled').length;

/** A tree of the reference. */
async function referenceTree({ reference, folder }) {
  const tree = openTree(reference, folder);
  await tree.store.init();
  return tree;
}

const create = (tree, more = {}) =>
  tree.store.create({ title: 'A task', createdBy: 'main', routing: { agent: 'dev' }, ...more });

/** Runs that end without a report, under the clock of a case: the statuses of the task. */
async function silentRuns(command, folder) {
  const worker = new Worker(command);
  let clock = Date.parse('2026-02-09T21:00:00.000Z');
  const ask = async (action, args = {}) => {
    const request = { do: action, args, root: folder, clock: new Date(clock).toISOString(), settings: {} };
    return worker.ask(request);
  };
  await ask('describe');
  await ask('open');
  const { task } = await ask('create', { title: 'A task', agent: 'dev' });
  for (let run = 0; run < 10; run += 1) {
    await ask('poll');
    await ask('claim', { task, agent: 'dev' });
    // Past every lease, and past the longest pause between two attempts.
    clock += 3_600_000;
    await ask('poll');
    clock += 3_600_000;
  }
  await ask('close');
  worker.end();
  return taskFiles(folder)[0].split('/')[0];
}

const adapter = fileURLToPath(new URL('aof-reference.mjs', import.meta.url));

const SCENARIOS = [
  {
    failure: 5,
    name: 'four moves of one task at the same time',
    good: 'one copy',
    async accord({ run, runs, folder }) {
      run('init');
      const id = run('create', 'A task', '--ready', '--id-only').trim();
      await settled([['block', id, 'x'], ['cancel', id], ['claim', id, '--as', 'dev'], ['close', id, '--yes']].map((words) => runs(...words)));
      return copies(folder);
    },
    async reference(context) {
      const tree = await referenceTree(context);
      const { frontmatter: { id } } = await create(tree);
      await tree.store.transition(id, 'ready');
      await settled(['blocked', 'cancelled', 'in-progress', 'deadletter'].map((status) => tree.store.transition(id, status)));
      return copies(context.folder);
    },
  },
  {
    failure: 6,
    name: `${MANY} tasks created at the same time`,
    good: `${MANY} tasks`,
    async accord({ run, runs, folder }) {
      run('init');
      await settled(Array.from({ length: MANY }, (_, at) => runs('create', `Task ${at}`)));
      return `${taskFiles(folder).length} tasks`;
    },
    async reference(context) {
      const tree = await referenceTree(context);
      await settled(Array.from({ length: MANY }, () => create(tree)));
      return `${taskFiles(context.folder).length} tasks`;
    },
  },
  {
    failure: 6,
    name: 'the thousandth task of a day',
    good: 'created',
    async accord({ run, folder }) {
      run('init');
      const id = run('create', 'A task', '--id-only').trim();
      fillDay(folder, id);
      return run('create', 'Another task', '--id-only').startsWith('TASK-') ? 'created' : 'refused';
    },
    async reference(context) {
      const tree = await referenceTree(context);
      fillDay(context.folder, (await create(tree)).frontmatter.id);
      return create(tree).then(() => 'created', (error) => error.message.includes('Invalid task id') ? 'invalid id' : error.message);
    },
  },
  {
    failure: 7,
    name: `${MANY} dependencies added at the same time`,
    good: `${MANY} dependencies`,
    async accord({ run, runs }) {
      run('init');
      const [task, ...others] = Array.from({ length: MANY + 1 }, (_, at) => run('create', `Task ${at}`, '--id-only').trim());
      await settled(others.map((other) => runs('dep add', task, other)));
      const shown = JSON.parse(run('show', task, '--json'));
      return `${shown.result.task.depends_on.length} dependencies`;
    },
    async reference(context) {
      const tree = await referenceTree(context);
      const ids = [];
      for (let at = 0; at <= MANY; at += 1) ids.push((await create(tree)).frontmatter.id);
      const [task, ...others] = ids;
      await settled(others.map((other) => tree.store.addDep(task, other)));
      return `${(await tree.store.get(task)).frontmatter.dependsOn.length} dependencies`;
    },
  },
  {
    failure: 9,
    name: 'a dependency that does not exist',
    good: 'refused',
    async accord({ run, runs }) {
      run('init');
      return runs('create', 'A task', '--after', 'TASK-1999-01-01-001').then(() => 'created', () => 'refused');
    },
    async reference(context) {
      const tree = await referenceTree(context);
      return create(tree, { dependsOn: ['TASK-1999-01-01-001'] }).then(() => 'created', () => 'refused');
    },
  },
  {
    failure: 9,
    name: 'a dependency that was cancelled',
    good: 'blocked with the reason',
    async accord({ run, folder }) {
      run('init');
      const first = run('create', 'First', '--id-only').trim();
      const second = run('create', 'Second', '--agent', 'dev', '--after', first, '--id-only').trim();
      run('cancel', first);
      run('poll');
      return surfaced(folder, second);
    },
    async reference(context) {
      const tree = await referenceTree(context);
      const first = (await create(tree)).frontmatter.id;
      const second = (await create(tree, { dependsOn: [first] })).frontmatter.id;
      await tree.store.cancel(first, 'not needed');
      await poll(context.reference, tree);
      return surfaced(context.folder, second);
    },
  },
  {
    failure: 10,
    name: 'ten runs that end without a report',
    good: 'deadletter',
    accord: ({ program, folder }) => silentRuns([program, 'adapter', 'aof', '--lines'], folder),
    reference: ({ directory, folder }) => silentRuns([process.execPath, adapter, directory], folder),
  },
];

function copies(folder) {
  const found = taskFiles(folder);
  return found.length === 1 ? 'one copy' : `${found.length} copies: ${found.map((file) => file.split('/')[0]).join(', ')}`;
}

/** A file with the last number of the day that an id has. */
function fillDay(folder, id) {
  const [status] = taskFiles(folder)[0].split('/');
  const last = `${id.slice(0, 'TASK-2026-01-01'.length)}-999`;
  const text = readFileSync(join(folder, 'tasks', status, `${id}.md`), 'utf8');
  writeFileSync(join(folder, 'tasks', status, `${last}.md`), text.replaceAll(id, last));
}

/** What happened to a task whose dependency can never be done. */
function surfaced(folder, id) {
  const [status] = taskFiles(folder).find((file) => file.endsWith(id)).split('/');
  const isNamed = readFileSync(join(folder, 'tasks', status, `${id}.md`), 'utf8').includes('cancelled');
  return status === 'blocked' && isNamed ? 'blocked with the reason' : `it waits in ${status}`;
}

/** The cases that show a failure. On Accord they pass; `accord check aof` says so. */
export const CASES = {
  1: ['runs/heartbeat', 'runs/live-run-stays', 'runs/fence-by-time'],
  2: ['runs/old-result', 'runs/older-result'],
  3: ['recovery/restart-result', 'recovery/restart-live'],
  4: ['recovery/both-expired'],
  8: ['recovery/blocked-stays', 'completion/lease-ends', 'completion/lease-ends-blocked'],
  11: ['detection/bare-envelope', 'errors/bare-envelope'],
  12: ['authorization/update', 'status/one-section', 'status/one-line', 'events/one-per-transition', 'events/numbers', 'completion/front-matter-kept'],
};

/** The outcomes of all scenarios on both, each in a tree of its own. */
export async function scenarios(context, tree) {
  const rows = [];
  for (const [at, scenario] of SCENARIOS.entries()) {
    const row = { failure: scenario.failure, name: scenario.name, good: scenario.good };
    for (const side of ['reference', 'accord']) {
      const folder = join(context.scratch, `${at}-${side}`);
      mkdirSync(folder, { recursive: true });
      try {
        row[side] = await scenario[side]({ ...context, ...tree(folder), folder });
      } catch (error) {
        row[side] = `error: ${error.message.split('\n')[0]}`;
      }
    }
    rows.push(row);
  }
  return rows;
}
