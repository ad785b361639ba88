// The reference implementation of AOF/1 as a library, and as an adapter of the kit.
//
//   accord check aof --command "node tools/differential/aof-reference.mjs DIR" --lines
//
// DIR is a built checkout of the reference. The clock of a case replaces that of the process.
// `open` after a kill starts the service of the reference, which repairs what a crash left; any
// other `open` only reads, because the service takes back every task in progress when it starts.

import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const MODULES = {
  store: 'store/task-store',
  lease: 'store/lease',
  events: 'events/logger',
  router: 'protocol/router',
  formatters: 'protocol/formatters',
  completion: 'protocol/completion-utils',
  runs: 'recovery/run-artifacts',
  scheduler: 'dispatch/scheduler',
  service: 'service/aof-service',
  task: 'schemas/task',
  run: 'schemas/run',
  result: 'schemas/run-result',
  event: 'schemas/event',
  protocol: 'schemas/protocol',
  project: 'schemas/project',
  projects: 'projects/create',
};

/** The parts of a built checkout. It keeps its own log in a folder that is removed at the end. */
export async function load(directory) {
  const folder = resolve(directory);
  const own = mkdtempSync(join(tmpdir(), 'aof-reference-'));
  process.on('exit', () => rmSync(own, { recursive: true, force: true }));
  process.env.AOF_ROOT = process.env.AOF_DATA_DIR = own;
  process.env.AOF_LOG_LEVEL = 'silent';
  const open = (name) => import(pathToFileURL(join(folder, 'dist', `${name}.js`)));
  // Newer versions write their log in a thread of its own, to the user's home.
  const logging = await open('logging/index').catch(() => null);
  logging?.__setLoggerTransportForTests?.(new PassThrough().resume());
  const parts = {};
  for (const [name, path] of Object.entries(MODULES)) parts[name] = await open(path);
  parts.yaml = createRequire(join(folder, 'package.json'))('yaml');
  return parts;
}

/** A tree, with everything of the reference that works on it. */
export function openTree(reference, root, project = 'shop') {
  const logger = new reference.events.EventLogger(join(root, 'events'));
  const pending = [];
  const rejected = [];
  const log = logger.log.bind(logger);
  // The parser does not wait for what it logs.
  logger.log = (type, actor, about) => {
    if (type === 'protocol.message.rejected') rejected.push(about?.payload?.reason);
    const logged = log(type, actor, about);
    pending.push(logged.catch(() => {}));
    return logged;
  };
  const store = new reference.store.FilesystemTaskStore(root, { projectId: project, logger });
  const router = new reference.router.ProtocolRouter({ store, logger });
  const settle = () => Promise.all(pending.splice(0));
  return { root, store, logger, router, rejected, settle };
}

/** One poll. No agent is started. */
export const poll = (reference, tree) =>
  reference.scheduler.poll(tree.store, tree.logger, {
    dataDir: tree.root,
    dryRun: false,
    defaultLeaseTtlMs: 600_000,
  });

const PREFIX = 'AOF/1 ';

/** A message with the project id that the reference demands and the guide does not have. */
export function withProject(input, project = 'shop') {
  if (typeof input === 'string') {
    const prefix = input.trimStart().startsWith(PREFIX) ? PREFIX : '';
    try {
      const document = JSON.parse(input.trim().slice(prefix.length));
      return isEnvelope(document) ? prefix + JSON.stringify({ projectId: project, ...document }) : input;
    } catch {
      return input;
    }
  }
  if (isEnvelope(input)) return { projectId: project, ...input };
  if (input === null || typeof input !== 'object') return input;
  const given = ['payload', 'message', 'content'].find((name) => input[name] !== undefined);
  return given ? { ...input, [given]: withProject(input[given], project) } : input;
}

const isEnvelope = (value) => value !== null && typeof value === 'object' && value.protocol === 'aof';

// --- the adapter -------------------------------------------------------------------------------

const RealDate = Date;
let now = null;

/** The clock of a case. */
class CaseDate extends RealDate {
  constructor(...parts) {
    super(...(parts.length ? parts : [now ?? RealDate.now()]));
  }

  static now() {
    return now ?? RealDate.now();
  }
}

async function step(reference, state, request) {
  const { do: action, args = {}, root } = request;
  if (action === 'describe') {
    state.isDescribed = true;
    return { places: { runs: 'state/runs' } };
  }
  const { apply, review } = request.settings ?? {};
  if ((apply ?? 'at-once') !== 'at-once' || (review ?? 'guide') !== 'guide') {
    return { status: 'not_implemented', message: 'there are no such settings' };
  }
  if (action === 'open') {
    state.tree = openTree(reference, root);
    await state.tree.store.init();
    if (!state.isDescribed) {
      const { store, logger } = state.tree;
      const service = new reference.service.AOFService({ store, logger }, { dataDir: root });
      await service.start();
      await service.stop();
    }
    return {};
  }
  const { tree } = state;
  tree.rejected.length = 0;
  try {
    return await perform(reference, tree, action, args);
  } finally {
    await tree.settle();
  }
}

async function perform(reference, tree, action, args) {
  const refusable = async (work) => {
    try {
      return { outcome: 'accepted', ...(await work()) };
    } catch {
      return { outcome: 'rejected' };
    }
  };
  switch (action) {
    case 'close':
      return {};
    case 'deliver': {
      const message = reference.router.parseProtocolMessage(withProject(args.input), tree.logger);
      if (message) await tree.router.route(message);
      if (tree.rejected.length) return { outcome: 'rejected', reason: tree.rejected[0] };
      return { outcome: message ? 'accepted' : 'ignored' };
    }
    case 'session_end':
      await tree.router.handleSessionEnd();
      return { outcome: 'accepted' };
    case 'poll':
      await poll(reference, tree);
      return { outcome: 'accepted' };
    case 'claim':
      return refusable(() => reference.lease.acquireLease(tree.store, args.task, args.agent).then(() => {}));
    case 'heartbeat':
      // As its own renewal of a lease does it.
      return refusable(() => reference.lease.renewLease(tree.store, args.task, args.agent).then(() => {}));
    case 'create':
      return refusable(async () => {
        const routing = { agent: args.agent };
        const task = await tree.store.create({ title: args.title, routing, createdBy: 'conformance' });
        return { task: task.frontmatter.id };
      });
    default:
      return { status: 'not_implemented', message: `there is no action ${action}` };
  }
}

/** The answer to a case of one rule. */
function answer(reference, request) {
  const { operation, args } = request.input;
  const done = (outcome) => {
    const actual = { result: 'ok', ...outcome };
    const differs = ([name, value]) => !value?.assert && JSON.stringify(actual[name]) !== JSON.stringify(value);
    return { id: request.id, status: Object.entries(request.expected).some(differs) ? 'fail' : 'pass', actual };
  };
  switch (operation) {
    case 'detect': {
      let reason = null;
      const logger = { log: (_, __, about) => (reason ??= about.payload.reason) };
      const message = reference.router.parseProtocolMessage(withProject(args.input), logger);
      if (message) return done({ kind: 'message', type: message.type });
      return done(reason ? { kind: 'rejected', reason } : { kind: 'other' });
    }
    case 'completion_transitions': {
      const task = { frontmatter: { status: args.status, metadata: args.metadata } };
      return done({ transitions: reference.completion.resolveCompletionTransitions(task, args.outcome) });
    }
    case 'status_transition':
      return done({ valid: reference.task.isValidTransition(args.from, args.to) });
    case 'status_transitions': {
      const following = reference.task.TaskStatus.options.filter((to) => reference.task.isValidTransition(args.from, to));
      return done({ to: following });
    }
    case 'work_log_entry':
      now = RealDate.parse(args.at);
      return done({ line: reference.formatters.buildWorkLogEntry(args) });
    default:
      return { id: request.id, status: 'not_implemented' };
  }
}

async function serve(directory) {
  const reference = await load(directory);
  // The reference prints warnings; standard output is for answers.
  console.log = console.info = console.warn = console.error = () => {};
  globalThis.Date = CaseDate;
  const state = {};
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    let said;
    try {
      if (request.clock) now = RealDate.parse(request.clock);
      said = 'do' in request
        ? { status: 'ok', ...(await step(reference, state, request)) }
        : answer(reference, request);
    } catch (error) {
      said = { id: request.id, status: 'error', message: String(error?.message ?? error) };
    }
    process.stdout.write(`${JSON.stringify(said)}\n`);
  }
  process.exit(0);
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await serve(process.argv[2]);
}
