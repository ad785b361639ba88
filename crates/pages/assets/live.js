// The page of a live session.

import {
  PARTS, Refused, fetchPage, forgetLogin, isSignedIn, mintToken, onLoginChange, personMark,
  renewLink, signIn, signOut,
} from "./api.js";
import { Channel } from "./channel.js";
import { credentialIn, credentialsIn } from "./credentials.js";
import { byId, fill, say, sentence } from "./dom.js";
import {
  capture, clearProblems, followLists, readForm, resetForm, restore, secretsOf, showProblems,
  startForms, violationsOf, withoutSecrets,
} from "./forms.js";
import { Kept } from "./kept.js";
import { Streams } from "./streams.js";
import { visible } from "./text.js";
import { startTheme } from "./theme.js";
import { shown } from "./value.js";

// The views that show what the agent wrote.
const OPEN_VIEWS = ["session", "ended"];
const WARN_MS = 120_000;
// How often the page asks whether the agent still waits: the end of a wait is no event.
const ASK_MS = 5_000;
const LOGIN_ENDED = "Your login ended. Sign in again; what you entered stays here.";
const LATEST_TIMER_MS = 2 ** 31 - 1;

const session = decodeURIComponent(location.pathname.split("/")[2] ?? "");
const last = {};
const receipts = new Set();
// The digest of what is shown.
let digest;
let endsAt = 0;
let endTimer;
let askTimer;
let person = personMark();
const kept = new Kept(session);
// What was entered before the page was loaded again, or before the login ended.
let draft = kept.draft();
// What became of an answer whose form is gone.
let problem = "";
let fetching = null;
let isStale = false;

const streams = new Streams(byId("streams"), (event) => {
  // An agent waits for an answer.
  if (event.kind === "consume_polling") refresh();
});

// A login for one question opens no channel.
let isAlone = false;

const channel = new Channel(session, () => (isAlone ? null : mintToken(session)), kept, {
  state: showConnection,
  subscribed(ack) {
    if (ack.replayTruncated) streams.setTruncated();
    refresh();
  },
  changed: refresh,
  settled,
  delayed,
  data: (frame) => streams.take(frame),
  drained() {
    refresh();
    for (const receipt of receipts) {
      if (receipt.isConnected) receipt.textContent = receipt.textContent.replace(
        "The agent has not read it yet.", "The agent has read it.");
    }
    receipts.clear();
  },
  refused: showRefusal,
});

// What is shown -------------------------------------------------------------------------------

function showView(view) {
  document.body.dataset.view = view;
  byId("login").hidden = view !== "login";
  byId("invitation").hidden = view !== "invitation";
  byId("renewal").hidden = view !== "renewal";
  byId("session").hidden = last.head === undefined || !OPEN_VIEWS.includes(view);
  byId("sign-out").hidden = !isSignedIn();
}

// Adds the protocol's code of a failure to a sentence, so that an operator can look it up.
function named(sentence, code) {
  return code && !sentence.includes(code) ? `${sentence} (${code})` : sentence;
}

function showConnection(state, seconds, code) {
  const lost = named("Connection lost", code);
  const words = {
    connecting: "Connecting",
    live: "Connected",
    waiting: `${lost}. Trying again in ${seconds} s. What you enter stays here.`,
    offline: "You are offline. What you enter stays here.",
    "signed-out": "Signed out",
    "read-only": "Not connected",
    ended: "This session ended",
    missing: "Not connected",
  };
  const place = byId("connection");
  place.dataset.state = state;
  say(place, words[state]);
}

// Shows the form to sign in, and nothing of the session.
function showLogin(message) {
  forgetLogin();
  channel.stop();
  hideSession();
  showConnection("signed-out");
  showView("login");
  say(byId("login-error"), message ?? "");
  byId("login-title").focus();
}

// Takes the session out of the document. What was entered is kept for the next login.
function hideSession() {
  clearTimeout(endTimer);
  clearTimeout(askTimer);
  const dialog = byId("confirm");
  if (dialog.open) dialog.close();
  for (const id of ["confirm-label", "confirm-credentials", "confirm-data", "notice"]) {
    byId(id).replaceChildren();
  }
  if (last.actions !== undefined) draft = capture(byId("actions"));
  for (const part of PARTS) empty(part);
  receipts.clear();
  document.title = "Live session · Accord";
}

// Takes a fragment out of the document.
function empty(part) {
  byId(part).replaceChildren();
  delete byId(part).dataset.state;
  delete last[part];
}

// A person who signed out leaves nothing behind: the next one may be somebody else.
function showSignedOut(message) {
  const unsent = channel.forget();
  const lost = unsent > 0 ? " An answer that was not confirmed is not sent again." : "";
  showLogin(message + lost);
  streams.clear();
  draft = null;
  problem = "";
  kept.clear();
}

function showEnd() {
  channel.stop();
  clearTimeout(endTimer);
  clearTimeout(askTimer);
  showConnection("ended");
  showView("ended");
  for (const action of channel.waitingActions()) {
    const form = formOf(action);
    if (form) receipt(form, "failed", "Not confirmed.");
  }
  if (channel.forget() > 0) problem = "An answer was not confirmed. See the last answers.";
  say(byId("notice"), `This session ended. It takes no more answers. ${problem}`.trim());
  disableActions();
  if (isAsked()) empty("agent");
}

const isAsked = () => ["waiting", "asked"].includes(byId("agent").dataset.state);

function disableActions() {
  for (const button of document.querySelectorAll("#actions button")) button.disabled = true;
}

function showRefusal(error) {
  if (error.status === 401) {
    showLogin(LOGIN_ENDED);
  } else if (error.status === 410) showEnd();
  else if (error.status === 403 && last.head !== undefined) {
    showConnection("read-only");
    disableActions();
    say(byId("notice"), "You may read this session, and not answer: your key may not write here.");
  } else {
    channel.stop();
    showConnection("missing");
    showView("missing");
    const advice = error.status === 404 ? " Check the address, or run accord live list." : "";
    const message = sentence(error.message || "This session cannot be shown") + advice;
    say(byId("notice"), named(message, error.code));
  }
}

function show(page) {
  digest = page.digest;
  isAlone = page.no_channel === true;
  const active = document.activeElement?.id;
  for (const part of PARTS) {
    if (last[part] === page[part]) continue;
    const place = byId(part);
    const entered = part === "actions" ? draft ?? capture(place) : null;
    fill(place, page[part]);
    last[part] = page[part];
    if (part === "actions") {
      draft = null;
      startForms(place);
      restore(place, entered);
      markWaiting();
    }
    if (part === "agent") {
      place.dataset.state = place.querySelector("[data-agent]")?.dataset.agent ?? "idle";
    }
    showTimesOf(place);
    if (part === "streams") streams.showAll();
  }
  if (active && document.activeElement === document.body) byId(active)?.focus();
  clearTimeout(askTimer);
  if (isAsked()) askTimer = setTimeout(checkAgent, ASK_MS);
  document.title = `${byId("session-title").textContent} · Accord`;
  // The clock of this device may be wrong; the time that is left is not.
  endsAt = Date.now() + page.ends_at - page.now;
  showTimes();
  if (page.ended) showEnd();
  else showView("session");
}

const asTime = (date) => date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });

// Shows the times of a fragment in the time of this device.
function showTimesOf(place) {
  for (const time of place.querySelectorAll("time")) {
    time.textContent = asTime(new Date(time.dateTime));
  }
}

// Shows when the session ends in the time of this device, and notices when it has.
function showTimes() {
  const ends = byId("ends");
  const end = new Date(endsAt);
  if (ends) ends.textContent = asTime(end);
  clearTimeout(endTimer);
  const left = endsAt - Date.now();
  const isNear = left <= WARN_MS;
  const near = isNear && left > 0
    ? "This session ends soon if nothing happens in it. An answer keeps it open." : "";
  if (document.body.dataset.view !== "ended") say(byId("notice"), `${problem} ${near}`.trim());
  const next = isNear ? Math.max(left, 1000) : left - WARN_MS;
  endTimer = setTimeout(() => refresh(), Math.min(next + 500, LATEST_TIMER_MS));
}

// Asks whether the agent still waits, unless nobody sees the page.
function checkAgent() {
  if (document.body.dataset.view !== "session") return;
  if (document.visibilityState === "visible") refresh();
  else askTimer = setTimeout(checkAgent, ASK_MS);
}

// Fetches what is shown. A change while that runs is fetched afterwards.
function refresh() {
  if (fetching) {
    isStale = true;
    return fetching;
  }
  fetching = (async () => {
    try {
      do {
        isStale = false;
        const page = await fetchPage(session);
        // A person who signed out meanwhile must not see it.
        if (!isSignedIn()) return;
        show(page);
      } while (isStale);
    } catch (error) {
      // Without an answer the channel tries again, and then this is called again.
      if (error instanceof Refused && error.status < 500) showRefusal(error);
    } finally {
      fetching = null;
    }
  })();
  return fetching;
}

async function open() {
  person = personMark();
  showConnection("connecting");
  document.body.dataset.view = "opening";
  await refresh();
  // A refusal has shown another view.
  if (["opening", "session"].includes(document.body.dataset.view)) channel.start();
}

// Answers -------------------------------------------------------------------------------------

function receipt(form, state, text) {
  const place = form.querySelector("[data-receipt]");
  place.dataset.state = state;
  place.replaceChildren(visible(text));
  return place;
}

function setBusy(form, isBusy) {
  if (isBusy) form.dataset.busy = "";
  else delete form.dataset.busy;
  form.querySelector('[type="submit"]').setAttribute("aria-disabled", String(isBusy));
}

// The form of an action now: a new fragment may have replaced the one that was sent.
function formOf(action) {
  const forms = [...document.querySelectorAll("form[data-action]")];
  return forms.find((form) => form.dataset.action === action);
}

// Says that an answer was not acknowledged yet.
function showWaiting(form) {
  setBusy(form, true);
  const isLive = channel.isSubscribed;
  receipt(form, "waiting", isLive ? "Sending" : "Kept. It is sent when the connection is back.");
}

// A new form whose earlier answer still waits is as busy as the one before it.
function markWaiting() {
  for (const action of channel.takeUnkept()) {
    const form = formOf(action);
    const text = "It is not known whether your answer arrived: it had a secret, which is not kept "
      + "when the page is loaded again. See the last answers before you send it again.";
    if (form) receipt(form, "failed", text);
    else problem = text;
  }
  for (const action of channel.waitingActions()) {
    const form = formOf(action);
    if (form) showWaiting(form);
  }
}

function send(form, data, expect) {
  const { action } = form.dataset;
  showWaiting(form);
  channel.act(action, data, secretsOf(form).size > 0, expect);
}

// Shows what became of an answer of this load of the page, or of an earlier one.
function settled(action, { ack, error }) {
  const form = formOf(action);
  problem = "";
  // The agent asks for something else now.
  if (!form && error) {
    problem = `An answer was not accepted (${error.code}). ${sentence(error.message)}`;
  }
  refresh();
  if (!form) return;
  setBusy(form, false);
  if (ack) {
    resetForm(form);
    kept.keepDraft(capture(byId("actions")));
    const time = new Date(ack.timestamp).toLocaleTimeString([], { timeStyle: "short" });
    receipts.add(receipt(form, "sent", `Sent at ${time}. The agent has not read it yet.`));
  } else {
    const problems = violationsOf(action, error);
    receipt(form, "failed", `Not accepted (${error.code}).`);
    const summary = problems.length > 0 ? "Correct what is marked." : error.message;
    showProblems(form, problems, summary);
  }
}

// Says that the server could not store an answer, which is sent again.
function delayed(action, seconds) {
  const form = formOf(action);
  const text = `The server cannot store it now (APPEND_FAILED). Trying again in ${seconds} s.`;
  if (form) receipt(form, "waiting", text);
}

// `expect` is what was shown when the form was submitted: it may change behind the dialog.
function confirmed(form, data, expect, credentials) {
  const dialog = byId("confirm");
  const submit = form.querySelector('[type="submit"]');
  byId("confirm-label").replaceChildren(visible(submit.textContent));
  const place = byId("confirm-credentials");
  const found = credentials.map(({ path, kind }) => `${path || "It"} contains ${kind}.`);
  place.hidden = found.length === 0;
  place.replaceChildren(visible(found.length === 0 ? "" : `${found.join(" ")} The agent reads it, `
    + "and it is stored. Cancel, unless the agent must have it."));
  const hide = (name, value) => (
    typeof value === "string" && credentialIn(value) ? "(not shown)" : value);
  const safe = withoutSecrets(form, data);
  const visibleData = safe === undefined ? undefined : JSON.parse(JSON.stringify(safe, hide));
  byId("confirm-data").replaceChildren(...(data === undefined ? [] : [shown(visibleData)]));
  byId("confirm-yes").onclick = () => {
    dialog.close();
    send(form, data, expect);
  };
  byId("confirm-no").onclick = () => dialog.close();
  dialog.onclose = () => submit.focus();
  dialog.showModal();
  byId("confirm-no").focus();
}

function submitted(event) {
  event.preventDefault();
  const form = event.target.closest("form[data-action]");
  if (!form || "busy" in form.dataset) return;
  const { data, problems } = readForm(form);
  if (problems.length > 0) {
    receipt(form, "failed", "Not sent.");
    showProblems(form, problems, "");
    return;
  }
  clearProblems(form);
  const credentials = credentialsIn(data ?? null);
  if ("confirm" in form.dataset || credentials.length > 0) {
    confirmed(form, data, digest, credentials);
  } else send(form, data, digest);
}

// Ctrl+Enter sends a form from a text of several lines.
function typed(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form) {
    event.preventDefault();
    event.target.form.requestSubmit();
  }
}

// Signing in ----------------------------------------------------------------------------------

// The secret of the link in the address. It works once, and must not stay in the history.
function takeLink() {
  const [, kind, link] = /^#([tp])=(.+)$/.exec(location.hash) ?? [];
  if (link) history.replaceState(null, "", location.pathname);
  return { kind, link };
}

// Signs in with the link in the address, if there is one: at once, or with a button.
function useLink() {
  const { kind, link } = takeLink();
  if (kind === "p") showInvitation(link);
  else if (link) enter({ link });
  return link !== undefined;
}

// Shows the button that uses a link of a person. A program that looks at the address, to show what
// is there, presses no button.
function showInvitation(link) {
  channel.stop();
  hideSession();
  showConnection("signed-out");
  showView("invitation");
  byId("invitation-yes").onclick = () => {
    byId("invitation-yes").onclick = null;
    enter({ link });
  };
  byId("invitation-title").focus();
}

async function enter(credential) {
  try {
    await signIn(credential);
    say(byId("login-error"), "");
    await open();
    byId("session-title")?.focus();
  } catch (error) {
    // An old link does not end the login that there is.
    const message = error instanceof Refused ? error.message : "The server does not answer";
    if (credential.link && isSignedIn()) await open();
    else if (error.body?.renewable) showRenewal(credential.link, error.body.link);
    else showLogin(sentence(message));
  }
}

// Offers another link instead of one that was used or has expired.
function showRenewal(link, ended) {
  channel.stop();
  hideSession();
  showConnection("signed-out");
  showView("renewal");
  say(byId("renewal-why"), ended === "used" ? "This link was used before." : "This link has expired.");
  const button = byId("renewal-yes");
  button.disabled = false;
  button.onclick = async () => {
    button.disabled = true;
    try {
      say(byId("renewal-note"), sentence(await renewLink(link)));
    } catch (error) {
      const message = error instanceof Refused ? error.message : "The server does not answer";
      say(byId("renewal-note"), sentence(message));
      button.disabled = false;
    }
  };
  byId("renewal-title").focus();
}

// Follows what another tab did with the login.
function checkLogin() {
  if (!isSignedIn()) {
    if (["login", "invitation", "renewal"].includes(document.body.dataset.view)) return;
    if (person === personMark()) showLogin(LOGIN_ENDED);
    else showSignedOut("You signed out in another tab.");
  } else if (document.body.dataset.view === "login") {
    open();
  }
}

function start() {
  startTheme();
  followLists(byId("actions"));
  byId("actions").addEventListener("submit", submitted);
  for (const kind of ["input", "change"]) {
    byId("actions").addEventListener(kind, () => kept.keepDraft(capture(byId("actions"))));
  }
  byId("actions").addEventListener("keydown", typed);
  byId("login-form")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const key = byId("key");
    const entered = key.value.trim();
    key.value = "";
    if (entered === "") say(byId("login-error"), "Enter a key.");
    else enter({ key: entered });
  });
  byId("sign-out").addEventListener("click", async () => {
    const ended = signOut();
    showSignedOut("You signed out.");
    // A refusal says that the login had ended before.
    const isEnded = await ended.then(() => true, (error) => error instanceof Refused);
    if (!isEnded) {
      say(byId("login-error"), "You signed out here. The server did not answer; there the login "
        + "ends within an hour.");
    }
  });
  onLoginChange(checkLogin);
  // A page that the browser kept and shows again was told of nothing meanwhile.
  addEventListener("pageshow", (event) => {
    if (event.persisted) checkLogin();
  });
  addEventListener("beforeunload", (event) => {
    if (channel.waiting.size > 0) event.preventDefault();
  });
  // A link that is opened in a tab with this page changes nothing but the fragment.
  addEventListener("hashchange", () => {
    useLink();
  });
  if (useLink()) return;
  if (isSignedIn()) open();
  else showLogin();
}

start();
