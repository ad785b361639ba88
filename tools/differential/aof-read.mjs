// Reads the files of a task tree with the reference: its own loader, linter and schemas.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

import { openTree } from './aof-reference.mjs';

/** The folders of run artifacts: of the guide, and of the reference. */
const RUNS = ['runs', 'state/runs'];

/**
 * What the reference does not accept in a tree, each as `{file, kind, problem}`, and the number of
 * files that it read.
 */
export async function readTree(reference, root) {
  const found = [];
  let files = 0;
  const check = (kind, file, schema, read) => {
    files += 1;
    let value;
    try {
      value = read();
    } catch (error) {
      found.push({ file, kind, problem: `unreadable: ${error.message}` });
      return;
    }
    for (const issue of schema.safeParse(value).error?.issues ?? []) {
      found.push({ file, kind, problem: `${issue.path.join('.')}: ${issue.message}` });
    }
  };
  const json = (file) => () => JSON.parse(readFileSync(file, 'utf8'));

  const tasks = await readTasks(reference, root, (file, problem) => found.push({ file, kind: 'task', problem }));
  files += tasks.size;
  for (const runs of RUNS) {
    for (const id of names(join(root, runs))) {
      const folder = join(root, runs, id);
      const schemas = {
        'run.json': reference.run.RunArtifact,
        'run_heartbeat.json': reference.run.RunHeartbeat,
        'run_result.json': reference.result.RunResult,
      };
      for (const [name, schema] of Object.entries(schemas)) {
        const file = join(folder, name);
        if (existsSync(file)) check(name, file, schema, json(file));
      }
    }
  }
  for (const { path } of tasks.values()) {
    const file = join(path.slice(0, -'.md'.length), 'inputs/handoff.json');
    if (existsSync(file)) check('handoff.json', file, reference.protocol.HandoffRequestPayload, json(file));
  }
  const manifest = join(root, 'project.yaml');
  if (existsSync(manifest)) {
    const read = () => reference.yaml.parse(readFileSync(manifest, 'utf8'));
    check('project.yaml', manifest, reference.project.ProjectManifest, read);
  }
  for (const name of names(join(root, 'events')).filter((name) => /^\d.*\.jsonl$/.test(name))) {
    const file = join(root, 'events', name);
    for (const [at, line] of readFileSync(file, 'utf8').split('\n').entries()) {
      if (line) check('event', `${file}:${at + 1}`, reference.event.BaseEvent, () => JSON.parse(line));
    }
  }
  return { found, files, tasks };
}

/** The tasks of a tree, by id, as the reference lists them. */
async function readTasks(reference, root, find) {
  const { store } = openTree(reference, root);
  // What its loader skips, it logs; nothing is written into the tree.
  const skipped = [];
  const quiet = { logValidationFailed: (file, errors) => skipped.push([file, errors]) };
  const reader = new reference.store.FilesystemTaskStore(root, { projectId: store.projectId, logger: quiet });
  const tasks = new Map();
  for (const task of await reader.list()) {
    const { id, contentHash: said } = task.frontmatter;
    if (tasks.has(id)) find(task.path, `the task is also at ${tasks.get(id).path}`);
    if (basename(task.path) !== `${id}.md`) find(task.path, `the file has the task ${id}`);
    const hash = reference.store.contentHash(task.body);
    if (said !== undefined && said !== hash) find(task.path, `contentHash is ${said}, the body has ${hash}`);
    tasks.set(id, task);
  }
  for (const [file, errors] of skipped) find(file, `skipped: ${errors}`);
  for (const { task, issue } of await reader.lint()) find(task.path, `lint: ${issue}`);
  return tasks;
}

/** The names in a folder, sorted; none if it does not exist. */
export const names = (folder) => (existsSync(folder) ? readdirSync(folder).sort() : []);
