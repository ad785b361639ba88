// Checks the files of AOF/1 task trees. Shares no code with Accord: the rules are those of the
// protocol's reference implementation, in plain JavaScript, for Node 20 and later.
//
//   node tools/oracle/aof.mjs TREE...            check these trees
//   node tools/oracle/aof.mjs --trees DIR        check every tree below a folder
//   --yaml DIR    read YAML with the npm package `yaml` (version 2) in DIR/node_modules
//
// Exit code 0: nothing found. 1: findings, one per line. 2: wrong arguments.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';

import { parse as parseSubset } from './aof-yaml.mjs';

const STATUSES = ['backlog', 'ready', 'in-progress', 'blocked', 'review', 'done', 'cancelled', 'deadletter'];
const OUTCOMES = ['done', 'blocked', 'needs_review', 'partial'];
const TASK_ID = /^TASK-\d{4}-\d{2}-\d{2}-(\d{3}(-\d{2})?|[23456789A-HJ-NP-Za-km-z]{8})$/;
const DATETIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;

// --- types -------------------------------------------------------------------------------------

const isText = (value) => typeof value === 'string';
const isFilled = (value) => isText(value) && value.length > 0;
const isCount = (value) => Number.isInteger(value) && value >= 0;
const isPositive = (value) => Number.isInteger(value) && value > 0;
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (item) => (value) => Array.isArray(value) && value.every(item);
const isOneOf = (values) => (value) => values.includes(value);
const isId = (value) => isText(value) && TASK_ID.test(value);
const isTime = (value) => {
    if (!isText(value) || !DATETIME.test(value)) return false;
    const [year, month, day] = value.slice(0, 10).split('-').map(Number);
    const date = new Date(Date.UTC(year, month - 1, day));
    const [hour, minute, second] = value.slice(11, 19).split(':').map(Number);
    return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
};

/** Members of an object: `name` is required, `name?` is optional. Others are allowed. */
const members = (shape) => (value, at, find) => {
    if (!isObject(value)) return find(at, 'is not an object');
    for (const [key, check] of Object.entries(shape)) {
        const name = key.replace(/\?$/, '');
        const place = at ? `${at}.${name}` : name;
        if (!(name in value)) {
            if (!key.endsWith('?')) find(place, 'is missing');
        } else if (check.length === 1) {
            if (!check(value[name])) find(place, `has an invalid value: ${JSON.stringify(value[name])}`);
        } else {
            check(value[name], place, find);
        }
    }
};

// --- documents ---------------------------------------------------------------------------------

const tests = members({ total: isCount, passed: isCount, failed: isCount });
const taskFile = members({
    schemaVersion: isOneOf([1, 2]), id: isId, project: isFilled, title: isFilled, status: isOneOf(STATUSES),
    'priority?': isOneOf(['critical', 'high', 'normal', 'low']),
    'routing?': members({ 'role?': isText, 'team?': isText, 'agent?': isText, 'tags?': isList(isText), 'workflow?': isText }),
    'sla?': members({ 'maxInProgressMs?': isPositive, 'onViolation?': isOneOf(['alert', 'block', 'deadletter']) }),
    'lease?': members({ agent: isText, acquiredAt: isTime, expiresAt: isTime, 'renewCount?': isCount }),
    createdAt: isTime, updatedAt: isTime, lastTransitionAt: isTime, createdBy: isText,
    'parentId?': isId, 'dependsOn?': isList(isId), 'contentHash?': isText, 'metadata?': (value) => isObject(value),
    'requiredRunbook?': isText, 'instructionsRef?': isFilled, 'guidanceRef?': isFilled, 'resource?': isText,
    'testsFile?': isText, 'gate?': members({ current: isFilled, entered: isTime }), 'gateHistory?': (value) => Array.isArray(value),
    'tests?': (value) => Array.isArray(value),
});
const METADATA = {
    retryCount: isCount, lastBlockedAt: isTime, blockReason: isText,
    cancellationReason: isText, lastRequeuedAt: isTime, requeueReason: isText,
};
const run = members({
    taskId: isId, agentId: isText, startedAt: isTime, status: isOneOf(['running', 'completed', 'failed', 'abandoned']),
    artifactPaths: members({ inputs: isText, work: isText, output: isText }), 'metadata?': (value) => isObject(value),
});
const heartbeat = members({ taskId: isId, agentId: isText, lastHeartbeat: isTime, 'beatCount?': isCount, 'expiresAt?': isTime });
const result = members({
    taskId: isId, agentId: isText, completedAt: isTime, outcome: isOneOf(OUTCOMES), summaryRef: isText, handoffRef: isText,
    'deliverables?': isList(isText), tests, 'blockers?': isList(isText), notes: isText,
});
const handoff = members({
    taskId: isId, parentTaskId: isId, fromAgent: isText, toAgent: isText, acceptanceCriteria: isList(isText),
    expectedOutputs: isList(isText), contextRefs: isList(isText), constraints: isList(isText), dueBy: isTime,
});
const event = members({
    eventId: isPositive, type: isFilled, timestamp: isTime, actor: isText, 'taskId?': isId, payload: (value) => isObject(value),
});
const ARTIFACTS = { 'run.json': run, 'run_heartbeat.json': heartbeat, 'run_result.json': result };

// --- a tree ------------------------------------------------------------------------------------

class Checker {
    constructor(root, parseYaml) {
        Object.assign(this, { root, parseYaml, findings: [], tasks: new Map(), files: 0 });
    }

    find(path, what) {
        this.findings.push(`${relative('.', path) || path}: ${what}`);
    }

    check() {
        this.statuses();
        for (const runs of ['runs', 'state/runs']) this.runs(join(this.root, runs));
        this.events(join(this.root, 'events'));
        return this.findings;
    }

    statuses() {
        const tasks = join(this.root, 'tasks');
        for (const status of list(tasks)) {
            // Git reads it; no reader of tasks does.
            if (status.name === '.gitattributes') {
                continue;
            }
            const folder = join(tasks, status.name);
            if (!STATUSES.includes(status.name)) {
                this.find(folder, 'is not the folder of a status');
                continue;
            }
            const entries = list(folder);
            const files = new Set(entries.filter((entry) => entry.isFile()).map((entry) => entry.name));
            for (const entry of entries) {
                const path = join(folder, entry.name);
                if (entry.isDirectory()) {
                    if (!files.has(`${entry.name}.md`)) this.find(path, 'is a folder without a task file');
                    this.companion(path, entry.name);
                } else if (entry.name === '.gitkeep') {
                    continue;
                } else if (!entry.name.endsWith('.md')) {
                    this.find(path, 'is not a task file');
                } else {
                    this.task(path, entry.name.slice(0, -3), status.name);
                }
            }
        }
    }

    task(path, id, status) {
        this.files += 1;
        if (this.tasks.has(id)) this.find(path, `the task is also at ${this.tasks.get(id)}`);
        this.tasks.set(id, path);
        const lines = readFileSync(path, 'utf8').split('\n');
        const end = lines.indexOf('---', 1);
        if (lines[0].trim().replace('\ufeff', '') !== '---' || end < 0) {
            return this.find(path, 'has no front matter between two lines ---');
        }
        let front;
        try {
            front = this.parseYaml(lines.slice(1, end).join('\n'));
        } catch (error) {
            return this.find(path, `the front matter is not YAML: ${error.message}`);
        }
        taskFile(front, '', (at, what) => this.find(path, `${at || 'the front matter'} ${what}`));
        if (!isObject(front)) return;
        for (const [name, check] of Object.entries(METADATA)) {
            const value = front.metadata?.[name];
            if (value !== undefined && !check(value)) this.find(path, `metadata.${name} has an invalid value: ${JSON.stringify(value)}`);
        }
        if (front.id !== id) this.find(path, `the front matter has the id ${front.id}`);
        if (front.status !== status) this.find(path, `the front matter has the status ${front.status}`);
        if ((front.lease !== undefined) !== (status === 'in-progress')) this.find(path, 'a task has a lease exactly while it is in progress');
        if ((front.dependsOn ?? []).includes(id)) this.find(path, 'the task depends on itself');
        this.body(path, front, lines.slice(end + 1).join('\n'));
    }

    body(path, front, body) {
        if (front.contentHash !== undefined) {
            const hash = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);
            if (![hash(body.trim()), hash(body)].includes(front.contentHash)) {
                this.find(path, `contentHash is ${front.contentHash}, and the body has ${hash(body.trim())}`);
            }
        }
        const logs = body.split('\n').filter((line) => line.trim() === '## Work Log').length;
        if (logs > 1) this.find(path, `has ${logs} sections Work Log`);
    }

    companion(folder, id) {
        const path = join(folder, 'inputs', 'handoff.json');
        if (existsSync(path)) {
            const document = this.json(path, handoff);
            if (document && document.taskId !== id) this.find(path, `is the handoff of ${document.taskId}`);
            const text = join(folder, 'inputs', 'handoff.md');
            if (!existsSync(text)) this.find(text, 'is missing beside handoff.json');
            else if (!readFileSync(text, 'utf8').startsWith('# Handoff Request\n\n**From:** ')) this.find(text, 'is not a handoff');
        }
    }

    runs(folder) {
        for (const entry of list(folder)) {
            const path = join(folder, entry.name);
            if (!entry.isDirectory() || !isId(entry.name)) {
                this.find(path, 'is not the folder of a run');
                continue;
            }
            if (!this.tasks.has(entry.name)) this.find(path, 'has no task');
            for (const [name, check] of Object.entries(ARTIFACTS)) {
                const file = join(path, name);
                if (!existsSync(file)) continue;
                const document = this.json(file, check);
                if (document && document.taskId !== entry.name) this.find(file, `is the artifact of ${document.taskId}`);
            }
        }
    }

    json(path, check) {
        this.files += 1;
        try {
            const document = JSON.parse(readFileSync(path, 'utf8'));
            check(document, '', (at, what) => this.find(path, `${at || 'the document'} ${what}`));
            return document;
        } catch (error) {
            this.find(path, `is not JSON: ${error.message}`);
            return null;
        }
    }

    events(folder) {
        const writers = new Map();
        for (const entry of list(folder).filter((entry) => entry.isFile())) {
            const path = join(folder, entry.name);
            // Git's attributes of the logs are no log.
            if (entry.name === '.gitattributes') continue;
            const name = /^\d{4}-\d{2}-\d{2}(?:\.([A-Za-z0-9_-]+))?\.jsonl$/.exec(entry.name);
            if (!name) {
                this.find(path, 'is not the log of a day');
                continue;
            }
            this.files += 1;
            // Each writer numbers its events.
            const ids = writers.get(name[1]) ?? [];
            writers.set(name[1], ids);
            const text = readFileSync(path, 'utf8');
            if (text && !text.endsWith('\n')) this.find(path, 'the last line is cut off');
            let last = 0;
            for (const [index, line] of text.split('\n').entries()) {
                if (!line) continue;
                const at = `${path}:${index + 1}`;
                try {
                    const document = JSON.parse(line);
                    event(document, '', (place, what) => this.find(at, `${place || 'the line'} ${what}`));
                    if (document.timestamp?.slice(0, 10) !== entry.name.slice(0, 10)) this.find(at, 'is in the log of another day');
                    if (document.eventId <= last) this.find(at, `event ${document.eventId} follows event ${last}`);
                    last = document.eventId;
                    ids.push(document.eventId);
                } catch (error) {
                    this.find(at, `is not JSON: ${error.message}`);
                }
            }
        }
        for (const ids of writers.values()) {
            ids.sort((one, other) => one - other);
            const gap = ids.findIndex((id, index) => id !== ids[0] + index);
            if (gap >= 0) this.find(folder, `event ${ids[0] + gap} is missing, or exists twice`);
        }
    }
}

/** The entries of a folder, without links. */
function list(folder) {
    if (!existsSync(folder)) return [];
    const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => !entry.isSymbolicLink());
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Every folder below one that has the folder of tasks. */
function treesBelow(folder) {
    if (existsSync(join(folder, 'tasks')) && STATUSES.some((status) => existsSync(join(folder, 'tasks', status)))) return [folder];
    return list(folder).filter((entry) => entry.isDirectory()).flatMap((entry) => treesBelow(join(folder, entry.name)));
}

function main(args) {
    const trees = [];
    let parseYaml = parseSubset;
    while (args.length > 0) {
        const arg = args.shift();
        if (arg === '--trees' && args.length > 0) trees.push(...treesBelow(args.shift()));
        else if (arg === '--yaml' && args.length > 0) parseYaml = createRequire(join(args.shift(), 'node_modules', 'x'))('yaml').parse;
        else if (arg.startsWith('--')) return usage();
        else trees.push(arg);
    }
    if (trees.length === 0) return usage();
    const checkers = trees.map((tree) => new Checker(tree, parseYaml));
    const findings = checkers.flatMap((checker) => checker.check());
    findings.forEach((finding) => console.log(finding));
    const files = checkers.reduce((sum, checker) => sum + checker.files, 0);
    console.log(`${trees.length} trees, ${files} files, ${findings.length} findings`);
    return findings.length > 0 ? 1 : 0;
}

function usage() {
    console.error('usage: aof.mjs [--yaml DIR] [--trees DIR] TREE...');
    return 2;
}

process.exitCode = main(process.argv.slice(2));
