// Outcomes of a case on two implementations, and the class of a disagreement.

/** Members of an outcome that decide something. All others are wording, ids, times and copies. */
const DECISIVE = [
  'error_field',
  'referenced_role',
  'referenced_runtime',
  'referenced_gate',
  'new_phase',
  'new_status',
  'ledger_length',
  'history_length',
  'barrier_effects',
  'barrier_snapshot',
  'manifest_valid',
  'manifest_contains_self',
  'file_paths',
  'hook_ok',
  'blocked',
];
const DECISIVE_STATE = ['status', 'phase', 'blocked_on'];

/** An outcome in one word: `success`, `error:schema_error@schema`, `crash`. */
export function outcome(answer) {
  const { actual } = answer;
  if (!actual || typeof actual !== 'object') return answer.status ?? 'nothing';
  let word = String(actual.result);
  if (actual.error_type) word += `:${actual.error_type}`;
  if (actual.failed_stage) word += `@${actual.failed_stage}`;
  if (actual.action) word += `:${actual.action}`;
  return word;
}

/** Whether a value has everything that another one has. Lists have the same length. */
function contains(whole, part) {
  if (part === null || typeof part !== 'object') return whole === part;
  if (whole === null || typeof whole !== 'object') return false;
  if (Array.isArray(part) && part.length !== whole.length) return false;
  return Object.keys(part).every((key) => contains(whole[key], part[key]));
}

/** The decisive members of the reference's outcome that Accord's does not have. */
function members(reference, accord) {
  const differ = (one, other, names, prefix) =>
    names
      .filter((name) => one?.[name] !== undefined && !contains(other?.[name], one[name]))
      .map((name) => prefix + name);
  const [one, other] = [reference.actual ?? {}, accord.actual ?? {}];
  return [
    ...differ(one, other, DECISIVE, ''),
    ...differ(one.state_assertions, other.state_assertions, DECISIVE_STATE, 'state.'),
  ];
}

/** The disagreement about a case, or `null` if the two agree. */
export function disagreement(entry, reference, accord) {
  const words = { reference: outcome(reference), accord: outcome(accord) };
  const differing = words.reference === words.accord ? members(reference, accord) : [];
  if (words.reference === words.accord && !differing.length) return null;
  return {
    operation: entry.document.input.operation,
    ...words,
    members: differing.join(','),
    place: entry.path.length ? `/${entry.path.join('/')}` : '',
    kind: entry.kind,
    case: entry.case,
    id: entry.id,
  };
}

/** A glob, in which `*` is any text, as a regular expression. */
function pattern(glob) {
  const plain = (part) => part.replace(/[\\^$.+?()[\]{}|]/g, '\\$&');
  return new RegExp(`^${glob.split('*').map(plain).join('.*')}$`);
}

/** The first reviewed class that a disagreement belongs to. Each member is a glob, or a list. */
export function classOf(found, verdicts) {
  const fits = ([name, globs]) => [globs].flat().some((glob) => pattern(glob).test(found[name]));
  return verdicts.find(({ match }) => Object.entries(match).every(fits)) ?? null;
}

/** How an unreviewed class is named: without the case and the exact place. */
export function signature(found) {
  const last = found.place.split('/').filter((part) => !/^\d+$/.test(part)).at(-1) ?? '';
  const about = found.members ? ` (${found.members})` : '';
  return `${found.operation}: ${found.reference} / ${found.accord}${about} at …/${last}`;
}
