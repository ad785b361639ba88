// Requests to the host. A request carries both halves of the login: the cookie, which the browser
// adds and no script can read, and the half in local storage, which pages of other ports lack.

const PLACE = `accord.console.${document.body.dataset.host}`;

export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export const isSignedIn = () => localStorage.getItem(PLACE) !== null;

export const forgetLogin = () => localStorage.removeItem(PLACE);

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
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    const error = answer.error ?? {};
    throw new Refused(response.status, error.code ?? "", error.message ?? "The server failed.");
  }
  return answer;
}

// A member of an answer. The code of an answer without it is the protocol's.
function memberOf(answer, name) {
  if (answer[name] !== undefined) return answer[name];
  const message = "The answer of the server is not complete (BOOTSTRAP_META_MISSING). Load the page again.";
  throw new Refused(422, "BOOTSTRAP_META_MISSING", message);
}

// Signs in with a link, with a key, or with neither on a host without keys.
export async function signIn(credential) {
  const answer = await call("POST", "/accord/v1/login", credential);
  localStorage.setItem(PLACE, memberOf(answer, "secret"));
}

export async function signOut() {
  try {
    await call("POST", "/accord/v1/logout", {});
  } finally {
    forgetLogin();
  }
}

const place = (session) => `/accord/v1/live/${encodeURIComponent(session)}`;

export async function fetchPage(session) {
  return memberOf(await call("GET", `${place(session)}/page`), "page");
}

export const mintToken = (session) => call("POST", `${place(session)}/token`, {});
