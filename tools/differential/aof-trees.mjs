// Trees that one side writes and the other reads: every kind of file, every status, and texts that
// a careless writer of YAML would break.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { openTree } from './aof-reference.mjs';

/** Titles that are easily read as something else. */
export const TITLES = [
  'yes', 'null', '~', '007', '1e3', '0x1f', '1_000', '.inf', '2026-02-09', '2026-02-09T21:00:00.000Z', '12:30:45',
  '- a list', '? a key', '# a comment', 'a: b', 'a #b', '@at', '`tick`', '%percent', '&anchor', '*alias', '!tag', '| block',
  '> folded', '{a: b}', '[a, b]', "it's", 'say "hi"', 'back\\slash', '---', '...', 'snowman ☃ and 🦀', '=', '<<', '-',
  `long ${'word '.repeat(60)}end`, 'ends with a colon:', '\u00a0no-break space', 'zero\u200bwidth', 'é as e\u0301',
];

const BODY = ['## Instructions', '', 'Do it.', '', '---', '', '- [ ] one', '', '```yaml', 'a: [', '```', '', '## Guidance', '', 'Carefully.'].join('\n');

const message = (type, id, agent, payload, more = {}) => ({
  protocol: 'aof', version: 1, type, projectId: 'shop', taskId: id, fromAgent: agent, toAgent: 'dispatcher',
  sentAt: new Date(Date.now() + 5_000).toISOString(), payload, ...more,
});

const report = (id, agent, outcome, more = {}) =>
  message('completion.report', id, agent, {
    outcome, summaryRef: 'outputs/summary.md', deliverables: ['src/a.ts'], tests: { total: 3, passed: 2, failed: 1 },
    blockers: outcome === 'blocked' ? ['no key: "x"', '# none'] : [], notes: 'first line\nsecond: line', ...more,
  });

const handoff = (child, parent, from, to) =>
  message('handoff.request', child, from, {
    taskId: child, parentTaskId: parent, fromAgent: from, toAgent: to, acceptanceCriteria: ['all: pass', '# docs'],
    expectedOutputs: ['tests/report.md'], contextRefs: ['src/a.ts'], constraints: [], dueBy: '2099-01-01T00:00:00.000Z',
  });

const update = (id, agent, more) => message('status.update', id, agent, { taskId: id, agentId: agent, ...more });

/** A tree that commands of Accord write. `run` runs one command in it, with input. */
export function writeWithAccord({ run }, layout) {
  run(['init', '--layout', layout, '--title', 'A: title # of "the" shop']);
  const create = (title, ...words) => run(['create', '--id-only', ...words, '--', title]).trim();
  const send = (document) => run(['message'], JSON.stringify(document));
  const claim = (id, agent) => run(['claim', id, '--as', agent]);
  for (const title of TITLES) create(title, `--tag=${title.slice(0, 40).trim() || 'x'}`, '--team', 'core');
  const parent = create('Parent', '--ready', '--priority', 'critical');
  const full = create('Everything', '--body', '-', '--priority', 'low', '--role', 'dev', '--team', 'core', '--resource', 'db',
    '--time-limit', '60', '--on-violation', 'deadletter', '--no-review', '--parent', parent, '--after', parent);
  run(['edit', full, '--title', 'Everything: edited', '--tag', 'a, b', '--body', '-'], `${BODY}\n`);
  const of = (title, agent = 'dev') => {
    const id = create(title, '--ready', '--agent', agent, '--instructions', 'Do: it');
    claim(id, agent);
    return id;
  };
  const running = of('Running');
  run(['heartbeat', running, '--as', 'dev']);
  send(update(running, 'dev', { progress: 'half\nof it', notes: '## Work Log', blockers: ['a, b'] }));
  for (const outcome of ['done', 'partial', 'needs_review', 'blocked']) send(report(of(`Reported ${outcome}`), 'dev', outcome));
  const back = of('Sent back');
  send(report(back, 'dev', 'done'));
  run(['send-back', back, 'no: tests', '--yes']);
  claim(back, 'dev');
  const done = of('Done');
  send(report(done, 'dev', 'done'));
  run(['approve', done, '--yes', '--note', 'good: "enough"']);
  run(['close', create('Closed', '--ready'), '--yes']);
  run(['cancel', of('Cancelled'), '--reason', 'not: needed']);
  run(['release', of('Released'), '--as', 'dev']);
  send(update(of('Dead'), 'dev', { status: 'deadletter', notes: 'broken' }));
  const risen = of('Risen');
  send(update(risen, 'dev', { status: 'deadletter' }));
  run(['resurrect', risen]);
  run(['block', create('Blocked by hand', '--ready'), 'a: "reason" # here']);
  const unblocked = create('Unblocked', '--ready');
  run(['block', unblocked, 'soon']);
  run(['unblock', unblocked]);
  const first = create('First');
  const second = create('Second', '--agent', 'dev');
  run(['dep add', second, first]);
  run(['promote', first]);
  const child = create('Child', '--ready', '--agent', 'dev');
  const other = create('Other child', '--ready', '--agent', 'dev');
  send(handoff(child, running, 'dev', 'qa'));
  send(message('handoff.accepted', child, 'qa', { taskId: child, accepted: true }));
  send(handoff(other, running, 'dev', 'qa'));
  send(message('handoff.rejected', other, 'qa', { taskId: other, accepted: false, reason: 'no: context' }));
  run(['poll']);
}

/** A tree that the reference writes. Returns its folder. */
export async function writeWithReference(reference, folder) {
  mkdirSync(folder, { recursive: true });
  const owner = { team: 'core', lead: 'main' };
  const { projectRoot } = await reference.projects.createProject('shop', { vaultRoot: folder, title: 'A: title', type: 'swe', owner });
  const tree = openTree(reference, projectRoot);
  await tree.store.init();
  const create = async (title, more = {}) =>
    (await tree.store.create({ title, body: BODY, createdBy: 'main', routing: { agent: 'dev', tags: [title.slice(0, 40)] }, ...more })).frontmatter.id;
  const ready = async (title, more) => {
    const id = await create(title, more);
    await tree.store.transition(id, 'ready');
    return id;
  };
  const of = async (title) => {
    const id = await ready(title);
    await reference.lease.acquireLease(tree.store, id, 'dev');
    return id;
  };
  const send = (document) => tree.router.route(reference.router.parseProtocolMessage({ payload: document }, tree.logger));
  // Accord refuses control characters in a title, and reads them.
  for (const title of [...TITLES, 'tab\there']) await create(title);
  const running = await of('Running');
  await reference.lease.renewLease(tree.store, running, 'dev');
  await reference.runs.writeHeartbeat(tree.store, running, 'dev', 300_000);
  await send(update(running, 'dev', { progress: 'half', notes: 'of it' }));
  for (const outcome of ['done', 'partial', 'needs_review', 'blocked']) await send(report(await of(`Reported ${outcome}`), 'dev', outcome));
  const done = await of('Done');
  await send(report(done, 'dev', 'done'));
  await tree.store.transition(done, 'done');
  await tree.store.cancel(await ready('Cancelled'), 'not: needed');
  await tree.store.block(await ready('Blocked'), 'a: reason');
  const dead = await ready('Dead');
  await tree.store.transition(dead, 'deadletter');
  const first = await ready('First', { priority: 'critical', sla: { maxInProgressMs: 60_000, onViolation: 'alert' }, metadata: { a: { b: [1, null, 'x'] } } });
  const second = await create('Second', { parentId: running });
  await tree.store.addDep(second, first);
  const child = await ready('Child');
  await send(handoff(child, running, 'dev', 'qa'));
  await tree.settle();
  return { root: join(projectRoot), first };
}

export { report };
