// Credentials in what a person is about to send. The rules are those of src/credential in the
// crate `base`, which also examines what arrives; a test compares what both find.

// Whether what should be random can be: words and slugs have letters of one case.
const isMixed = (body) => /[a-z]/.test(body) && /[A-Z]/.test(body);
const VARIED = {
  mixed: isMixed,
  hex: (body) => /[a-f]/.test(body) && /[0-9]/.test(body),
  any: () => true,
};

const TOKENS = [
  ["a private key", "AGE-SECRET-KEY-1([A-Z0-9]{58})(?![A-Z0-9])", "any"],
  ["a key of Accord", "accord_[A-Za-z0-9]{8,64}_([A-Za-z0-9]{32,})", "any"],
  ["a storage key of Azure", "AccountKey=([A-Za-z0-9+/]{86})=="],
  ["a key of Google", "AIza([\\w-]{35})(?![\\w-])"],
  ["a key of Google", "GOCSPX-([\\w-]{28})(?![\\w-])"],
  ["a key of Google", "ya29\\.([\\w-]{40,})"],
  ["a token of DigitalOcean", "do[opr]_v1_([0-9a-f]{64})(?![0-9a-f])", "hex"],
  ["a token of GitHub", "gh[opsu]_([A-Za-z0-9]{36})(?![A-Za-z0-9])"],
  ["a token of GitHub", "ghr_([A-Za-z0-9]{36,76})(?![A-Za-z0-9])"],
  ["a token of GitHub", "github_pat_[A-Za-z0-9]{22}_([A-Za-z0-9]{59})(?![A-Za-z0-9])"],
  ["a token of GitLab", "(?:glpat|gldt|glrt|glsoat)-([\\w-]{20})(?![\\w-])"],
  ["a token of GitLab", "glpat-([\\w-]{27,128})\\.[A-Za-z0-9]{2}\\.[A-Za-z0-9]{9}(?![A-Za-z0-9])"],
  ["a token of GitLab", "glptt-([0-9a-f]{40})(?![0-9a-f])", "hex"],
  ["a token of GitLab", "glagent-([\\w-]{50})(?![\\w-])"],
  ["a token of Atlassian", "AT[AC]TT3xFfGF0([\\w=-]{100,})"],
  ["a token of Atlassian", "ATBB([A-Za-z0-9]{32})(?![A-Za-z0-9])"],
  ["a token of npm", "npm_([A-Za-z0-9]{36})(?![A-Za-z0-9])"],
  ["a token of PyPI", "pypi-(?:AgEIcHlwaS5vcmc|AgENdGVzdC5weXBpLm9yZw)([\\w-]{50,})"],
  ["a key of RubyGems", "rubygems_([0-9a-f]{48})(?![0-9a-f])", "hex"],
  ["a token of Docker", "dckr_pat_([\\w-]{27})(?![\\w-])"],
  ["a token of Hugging Face", "hf_([A-Za-z0-9]{34})(?![A-Za-z0-9])"],
  ["a key of OpenAI", "sk-([A-Za-z0-9]{48})(?![A-Za-z0-9])"],
  ["a key of OpenAI", "sk-(?:admin|proj|svcacct)-([\\w-]{40,})"],
  ["a key of Anthropic", "sk-ant-[A-Za-z0-9]{3,10}-([\\w-]{80,})"],
  ["a key of OpenRouter", "sk-or-v1-([0-9a-f]{64})(?![0-9a-f])", "hex"],
  ["a token of Slack", "xapp-\\d-[A-Za-z0-9]{8,14}-\\d{9,15}-([0-9a-f]{64})(?![0-9a-f])", "hex"],
  ["a token of Slack", "xoxb-\\d{9,15}-\\d{9,15}-([A-Za-z0-9]{24,40})(?![A-Za-z0-9])"],
  ["a token of Slack",
    "xoxp-\\d{9,15}-\\d{9,15}-\\d{9,15}-([A-Za-z0-9]{28,40})(?![A-Za-z0-9])", "any"],
  ["a token of Slack",
    "hooks\\.slack\\.com/services/T[A-Za-z0-9]{8,12}/B[A-Za-z0-9]{8,12}/([A-Za-z0-9]{24})"
    + "(?![A-Za-z0-9])"],
  ["a live key of Stripe", "[rs]k_live_([A-Za-z0-9]{24,})"],
  ["a key of SendGrid", "SG\\.[\\w-]{22}\\.([\\w-]{43})(?![\\w-])"],
  ["a token of Vault", "hvs\\.([\\w-]{90,})"],
].map(([kind, pattern, alphabet]) => {
  const body = new RegExp(`(?<![A-Za-z0-9_])${pattern}`, "g");
  return { kind, pattern: body, isVaried: VARIED[alphabet ?? "mixed"] };
});

const PEM = "-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----";
const PRIVATE_KEY = new RegExp(`${PEM}[^-]{0,200}?([A-Za-z0-9+/=]{48})`, "g");
const SECRET = "([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])";
const NAMED = new RegExp(`secret[_ -]?access[_ -]?key[\\s"'=:>|\`,\\\\]{1,12}${SECRET}`, "gi");
const UNNAMED = new RegExp(`(?<![A-Za-z0-9+/])${SECRET}`, "g");
const ACCESS_KEY_ID = /(?<![A-Za-z0-9_])A[KS]IA([A-Z2-7]{16})(?![A-Z2-7])/g;

const WORDS = new RegExp("example|placeholder|your|fake|dummy|sample|redacted|replace|changeme|"
  + "secret|token|xxxx|notreal", "i");

function isPlaceholder(body) {
  if (WORDS.test(body) || new Set(body).size < 6) return true;
  const isRow = (from, step) => [1, 2, 3, 4, 5].every(
    (at) => body.charCodeAt(from + at) - body.charCodeAt(from + at - 1) === step,
  );
  for (let from = 0; from + 6 <= body.length; from += 1) {
    if (isRow(from, 0) || isRow(from, 1)) return true;
  }
  return false;
}

function hasMatch(text, pattern, accepts) {
  for (const [, body] of text.matchAll(pattern)) if (accepts(body)) return true;
  return false;
}

function hasSecretOfAws(text) {
  const isSecret = (body) => /[0-9]/.test(body) && isMixed(body) && !isPlaceholder(body);
  if (hasMatch(text, NAMED, isSecret)) return true;
  for (const { 0: id, 1: body, index } of text.matchAll(ACCESS_KEY_ID)) {
    const near = text.slice(Math.max(0, index - 200), index + id.length + 200);
    if (!isPlaceholder(body) && hasMatch(near, UNNAMED, isSecret)) return true;
  }
  return false;
}

// What a text contains, in words; undefined if nothing.
export function credentialIn(text) {
  if (hasMatch(text, PRIVATE_KEY, (body) => new Set(body).size >= 16)) return "a private key";
  if (hasSecretOfAws(text)) return "a secret access key of AWS";
  const found = TOKENS.find(({ pattern, isVaried }) => (
    hasMatch(text, pattern, (body) => isVaried(body) && !isPlaceholder(body))));
  return found?.kind;
}

// The places of a value that contain a credential: `{ path, kind }`.
export function credentialsIn(value, path = "") {
  if (typeof value === "string") {
    const kind = credentialIn(value);
    return kind === undefined ? [] : [{ path, kind }];
  }
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => credentialsIn(item, `${path}[${at}]`));
  }
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(
    ([name, item]) => credentialsIn(item, path === "" ? name : `${path}.${name}`),
  );
}
