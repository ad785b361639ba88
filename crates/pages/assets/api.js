// Requests to the host. A request carries both halves of the login: the cookie, which the browser
// adds and no script can read, and the half in local storage, which pages of other ports lack.

const PLACE = `accord.console.${document.body.dataset.host}`;
const PERSON = `accord.person.${document.body.dataset.host}`;

// A connection that died without a word costs a request this time. A browser may keep several.
const TIMEOUT_MS = 8_000;

export class Refused extends Error {
  constructor(status, code, message, details, body = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.body = body;
  }
}

export const isSignedIn = () => localStorage.getItem(PLACE) !== null;

export const forgetLogin = () => localStorage.removeItem(PLACE);

// A mark of the person at this browser. It changes when somebody signs out, in any tab, so that a
// tab that was not loaded then does not keep what they entered for the next one.
export function personMark() {
  const mark = localStorage.getItem(PERSON) ?? randomId();
  localStorage.setItem(PERSON, mark);
  return mark;
}

export function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Calls back when another tab signed in or out.
export function onLoginChange(changed) {
  addEventListener("storage", (event) => {
    if (event.key === PLACE || event.key === null) changed();
  });
}

async function call(method, path, body) {
  const headers = {};
  const half = localStorage.getItem(PLACE);
  if (half !== null) headers["X-Accord-Console"] = half;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const response = await fetch(path, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
    cache: "no-store",
    credentials: "same-origin",
    redirect: "error",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const answer = await response.json().catch(() => null) ?? {};
  if (!response.ok) {
    const error = answer.error ?? {};
    const message = error.message ?? "The server failed.";
    throw new Refused(response.status, error.code ?? "", message, error.details, error);
  }
  return answer;
}

// The refusal of an answer that a page cannot use. The code is the protocol's.
function unusable(code) {
  const message = `The answer of the server is not complete (${code}). Load the page again.`;
  return new Refused(422, code, message);
}

// A member of an answer.
function memberOf(answer, name) {
  if (answer[name] === undefined) throw unusable("BOOTSTRAP_META_MISSING");
  return answer[name];
}

// Signs in with a link or with a key.
export async function signIn(credential) {
  const answer = await call("POST", "/accord/v1/login", credential);
  localStorage.setItem(PLACE, memberOf(answer, "secret"));
}

// Asks for another link instead of one of a person. Returns what the server does now.
export async function renewLink(link) {
  return memberOf(await call("POST", "/accord/v1/links/renew", { link }), "note");
}

// Ends the login: here at once, at the host with the answer.
export async function signOut() {
  const ended = call("POST", "/accord/v1/logout", {});
  localStorage.removeItem(PERSON);
  forgetLogin();
  await ended;
}

// The fragments of a page, each for the element of this id.
export const PARTS = ["head", "agent", "props", "actions", "answers", "streams"];

const place = (session) => `/accord/v1/live/${encodeURIComponent(session)}`;

export async function fetchPage(session) {
  const page = memberOf(await call("GET", `${place(session)}/page`), "page");
  const isWhole = PARTS.every((part) => typeof page?.[part] === "string");
  if (!isWhole) throw unusable("MALFORMED_BOOTSTRAP");
  return page;
}

export const mintToken = (session) => call("POST", `${place(session)}/token`, {});

// Sends an answer without a socket.
export const sendAction = (session, request) =>
  call("POST", `${place(session)}/actions`, request);
