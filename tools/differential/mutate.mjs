// Mutants of the corpus: each differs from its case in one place of `setup` or `input.args`.
// The same seed, corpus and size give the same mutants.

/** A generator of numbers in [0, 1) that depends on its seed alone (mulberry32). */
export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** All places below a value, as lists of keys. The value itself is not one of them. */
function* places(value, path = []) {
  if (value === null || typeof value !== 'object') return;
  for (const key of Object.keys(value)) {
    const place = [...path, Array.isArray(value) ? Number(key) : key];
    yield place;
    yield* places(value[key], place);
  }
}

const at = (document, path) => path.reduce((value, key) => value[key], document);

/** The texts of the corpus by the name of their member, as replacements for each other. */
export function vocabulary(cases) {
  const words = new Map();
  for (const { document } of cases) {
    for (const part of [document.setup, document.input.args]) {
      for (const path of places(part ?? {})) {
        const value = at(part, path);
        const name = path.findLast((key) => typeof key === 'string');
        if (typeof value !== 'string' || value.length > 40) continue;
        if (!words.has(name)) words.set(name, new Set());
        words.get(name).add(value);
      }
    }
  }
  return new Map([...words].map(([name, values]) => [name, [...values].sort()]));
}

/** Changes a value to another one, or gives `undefined` where that is not possible. */
const CHANGES = {
  null: (value) => (value === null ? undefined : null),
  empty: (value) => {
    if (typeof value === 'string') return value === '' ? undefined : '';
    if (Array.isArray(value)) return value.length ? [] : undefined;
    return isObject(value) && Object.keys(value).length ? {} : undefined;
  },
  blank: (value) => (typeof value === 'string' ? '  ' : undefined),
  type: (value) => {
    if (typeof value === 'string') return 7;
    if (typeof value === 'number') return String(value);
    if (typeof value === 'boolean') return value ? 'yes' : 0;
    if (Array.isArray(value)) return { 0: value[0] ?? null };
    return isObject(value) ? Object.values(value) : false;
  },
  word: (value, { words, random }) => {
    if (typeof value !== 'string') return undefined;
    const others = (words ?? []).filter((word) => word !== value);
    return others.length ? others[Math.floor(random() * others.length)] : `${value}x`;
  },
  number: (value, { random }) => {
    if (typeof value === 'boolean') return !value;
    if (typeof value !== 'number') return undefined;
    const others = [0, -1, value + 1, 1.5, 1e21].filter((other) => other !== value);
    return others[Math.floor(random() * others.length)];
  },
  double: (value) => (Array.isArray(value) && value.length ? [...value, value[0]] : undefined),
  reorder: (value) => {
    if (Array.isArray(value)) return value.length > 1 ? [...value].reverse() : undefined;
    if (!isObject(value) || Object.keys(value).length < 2) return undefined;
    return Object.fromEntries(Object.entries(value).reverse());
  },
};

/** The kinds of changes; `drop` removes the place itself. */
export const KINDS = ['drop', ...Object.keys(CHANGES)];

/** A mutant of a case, or `null` if the change is not possible there. */
function mutant(entry, path, kind, words, random) {
  const document = structuredClone(entry.document);
  const holder = at(document, path.slice(0, -1));
  const key = path.at(-1);
  if (kind === 'drop') {
    if (Array.isArray(holder)) holder.splice(key, 1);
    else delete holder[key];
  } else {
    const name = path.findLast((part) => typeof part === 'string');
    const value = CHANGES[kind](holder[key], { words: words.get(name), random });
    if (value === undefined) return null;
    holder[key] = value;
  }
  document.fixture_id = `${entry.id}#${kind}:/${path.join('/')}`;
  return { id: document.fixture_id, case: entry.id, kind, path, document };
}

/** So many mutants, spread over operations, cases, places and kinds. */
export function mutants(cases, size, seed) {
  const random = generator(seed);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const words = vocabulary(cases);
  const groups = new Map();
  for (const entry of cases) {
    const operation = entry.document.input.operation;
    if (!groups.has(operation)) groups.set(operation, []);
    groups.get(operation).push(entry);
  }
  const operations = [...groups.keys()].sort();
  const found = new Map();
  // Some places allow no change of a kind, and small groups have few mutants; so the tries are
  // limited, and not the mutants of a group.
  for (let tries = 0; tries < size * 20 && found.size < size; tries += 1) {
    const entry = pick(groups.get(pick(operations)));
    const paths = [['setup'], ['input', 'args']].flatMap((part) => {
      const value = part.reduce((inner, key) => inner?.[key], entry.document);
      return [...places(value ?? {})].map((path) => [...part, ...path]);
    });
    if (!paths.length) continue;
    const made = mutant(entry, pick(paths), pick(KINDS), words, random);
    if (made && !found.has(made.id)) found.set(made.id, made);
  }
  return [...found.values()];
}
