// A live session in the frame of an MCP Apps host. The frame talks with nobody but its host, over
// `postMessage`: what is shown comes from a tool of the server, and an answer goes through one.
//
// The host decides what reaches the server in whose name, so that an answer of a frame is never
// the word of a known person. Where the contract asks for one, the frame shows the way to Accord's page.

import { byId, fill, make, say, sentence } from "./dom.js";
import {
  capture, clearProblems, followLists, readForm, resetForm, restore, showProblems, startForms,
  violationsOf, withoutSecrets,
} from "./forms.js";
import { buildFrame } from "./frame_body.js";
import { Streams } from "./streams.js";
import { visible } from "./text.js";
import { shown } from "./value.js";

const PROTOCOL = "2026-01-26";
const SLICE = "ai.ggui/render";
const PARTS = ["head", "agent", "props", "actions", "answers", "streams"];
// How often the frame looks whether something changed. A host has no event for it.
const LOOK_MS = 4_000;
const CALL_MS = 60_000;

buildFrame();
const last = {};
const streams = new Streams(byId("streams"), () => {});
let slice = globalThis.__GGUI_META__?.[SLICE];
let page;
let streamSeq = 0;
let looking = false;

// The host ----------------------------------------------------------------------------------------

const pending = new Map();
let calls = 0;

const tell = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const notify = (method, params = {}) => tell({ method, params });

// A request to the host. Without an answer it fails after a minute.
function request(method, params) {
  calls += 1;
  const id = calls;
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      pending.delete(id);
      reject(new Error("The host does not answer."));
    }, CALL_MS);
    pending.set(id, { resolve, reject, late });
    tell({ id, method, params });
  });
}

function heard({ source, data }) {
  if (source !== parent || data?.jsonrpc !== "2.0") return;
  if (data.method === undefined) {
    const call = pending.get(data.id);
    if (!call) return;
    pending.delete(data.id);
    clearTimeout(call.late);
    if (data.error) call.reject(new Error(data.error.message ?? "The host refused it."));
    else call.resolve(data.result ?? {});
  } else if (data.id !== undefined) {
    const known = ["ping", "ui/resource-teardown"].includes(data.method);
    const error = { code: -32601, message: "There is no such method." };
    tell(known ? { id: data.id, result: {} } : { id: data.id, error });
  } else if (data.method === "ui/notifications/tool-result") {
    mount(data.params);
  } else if (data.method === "ui/notifications/tool-cancelled") {
    if (!slice) fail("The agent was stopped before it showed something.");
  } else if (data.method === "ui/notifications/host-context-changed") {
    showTheme(data.params);
  }
}

// Calls a tool of the server, and returns its document. A refusal has its code.
async function tool(name, args) {
  const result = await request("tools/call", { name, arguments: args });
  const text = result.content?.find((part) => part.type === "text")?.text ?? "";
  let document = result.structuredContent;
  if (document === undefined) {
    try {
      document = JSON.parse(text);
    } catch {
      document = {};
    }
  }
  if (result.isError) {
    const { code = "", message } = document.error ?? {};
    throw Object.assign(new Error(message ?? (text || "The server refused it.")), { code });
  }
  return document;
}

function showTheme(context) {
  if (["light", "dark"].includes(context?.theme)) {
    document.documentElement.dataset.theme = context.theme;
  }
}

// What is shown -----------------------------------------------------------------------------------

function fail(message) {
  document.body.dataset.view = "missing";
  byId("session").hidden = page === undefined;
  say(byId("notice"), sentence(message));
}

// Takes the session from the result of the tool that showed it.
function mount(result) {
  const found = result?._meta?.[SLICE];
  const sessionId = found?.sessionId ?? result?.structuredContent?.sessionId;
  if (slice || !sessionId) {
    if (!slice) fail("The agent showed nothing here.");
    return;
  }
  slice = found ?? { sessionId };
  look();
}

// Reads the session, now and from then on while somebody sees the frame.
async function look() {
  if (looking || !slice) return;
  looking = true;
  try {
    if (document.visibilityState === "visible" || page === undefined) {
      const { sessionId } = slice;
      show(await tool("accord_runtime_page", { sessionId, fromSeq: streamSeq }));
    }
  } catch (error) {
    // A frame that showed something goes on; the host may be back soon.
    if (page === undefined) fail(error.message);
    else say(byId("notice"), "The host does not answer. What you enter stays here.");
  } finally {
    looking = false;
    if (!page?.ended) setTimeout(look, LOOK_MS);
  }
}

function show(answer) {
  const isFirst = page === undefined;
  page = answer;
  say(byId("notice"), page.ended ? "This session ended. It takes no more answers." : "");
  for (const part of PARTS) {
    if (last[part] === page[part]) continue;
    const place = byId(part);
    const entered = part === "actions" && !isFirst ? capture(place) : null;
    fill(place, page[part]);
    last[part] = page[part];
    if (part === "actions") {
      startForms(place);
      if (entered) restore(place, entered);
    }
    for (const time of place.querySelectorAll("time")) {
      const date = new Date(time.dateTime);
      time.textContent = date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    }
    if (part === "streams") streams.showAll();
  }
  for (const message of page.messages ?? []) {
    streamSeq = Math.max(streamSeq, message.seq ?? 0);
    streams.take(message);
  }
  showDoor();
  for (const button of document.querySelectorAll("#actions button")) button.disabled = page.ended;
  document.body.dataset.view = page.ended ? "ended" : "session";
  byId("session").hidden = false;
}

// Shows the way to Accord's page: beside the forms, or instead of them where a person must answer.
function showDoor() {
  const door = byId("door");
  byId("actions").hidden = page.answered_by === "person";
  door.hidden = page.page_url === undefined && page.answered_by !== "person";
  const words = page.answered_by === "person"
    ? "Only a person who is signed in can answer this. Answer on the page of Accord."
    : "An answer here does not say which person gave it.";
  say(byId("door-text"), page.page_url === undefined
    ? "Only a person who is signed in can answer this: run accord live answer." : words);
  byId("open-page").hidden = page.page_url === undefined;
}

// Answers -----------------------------------------------------------------------------------------

function receipt(form, state, text) {
  const place = form.querySelector("[data-receipt]");
  place.dataset.state = state;
  place.replaceChildren(visible(text));
}

function randomHex(bytes) {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return [...random].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(form, data, expect) {
  const { action } = form.dataset;
  form.dataset.busy = "";
  receipt(form, "waiting", "Sending");
  // The same id for the same answer, so that one that is sent again counts once.
  form.dataset.actionId ??= randomHex(8);
  const { sessionId } = slice;
  const args = {
    kind: "dispatch",
    payload: { intent: action, actionData: data ?? null, uiContext: {} },
    sessionId,
    appId: slice.appId ?? page.app_id,
    actionId: form.dataset.actionId,
    firedAt: new Date().toISOString(),
    "x-expect": expect,
  };
  try {
    const outcome = await tool("ggui_runtime_submit_action", args);
    delete form.dataset.actionId;
    if (outcome.ok) {
      resetForm(form);
      receipt(form, "sent", "Sent. The agent has not read it yet.");
      if (outcome.consumerPresent === false) ring();
    } else {
      const problems = violationsOf(action, { details: outcome });
      receipt(form, "failed", `Not accepted (${outcome.code}).`);
      const summary = problems.length > 0 ? "Correct what is marked." : outcome.message;
      showProblems(form, problems, summary);
    }
  } catch (error) {
    receipt(form, "failed", `Not sent. ${sentence(error.message)} You can send it again.`);
  } finally {
    delete form.dataset.busy;
    look();
  }
}

// Wakes the agent of the conversation, which waits for nothing now. The answer is in the session.
function ring() {
  const text = `I answered in the live session ${slice.sessionId}. Call ggui_consume with this `
    + "sessionId to read the answer.";
  request("ui/message", { role: "user", content: [{ type: "text", text }] }).catch(() => {});
}

function confirmed(form, data, expect) {
  const dialog = byId("confirm");
  const submit = form.querySelector('[type="submit"]');
  byId("confirm-label").replaceChildren(visible(submit.textContent));
  const seen = withoutSecrets(form, data);
  byId("confirm-data").replaceChildren(...(data === undefined ? [] : [shown(seen)]));
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
  if ("confirm" in form.dataset) confirmed(form, data, page.digest);
  else send(form, data, page.digest);
}

async function openPage() {
  const url = page.page_url;
  try {
    const { isError } = await request("ui/open-link", { url });
    if (isError) throw new Error();
  } catch {
    // A host that opens no links: the person can copy the address.
    byId("door-text").replaceChildren("Open this address: ", make("code", "", url));
  }
}

// The host gives the frame the height of what it shows.
function followSize() {
  let before = "";
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(document.body.getBoundingClientRect().height);
    const width = Math.ceil(document.documentElement.scrollWidth);
    if (before === `${width} ${height}`) return;
    before = `${width} ${height}`;
    notify("ui/notifications/size-changed", { width, height });
  });
  observer.observe(document.body);
}

async function start() {
  addEventListener("message", heard);
  followLists(byId("actions"));
  byId("actions").addEventListener("submit", submitted);
  byId("open-page").addEventListener("click", openPage);
  document.addEventListener("visibilitychange", () => look());
  try {
    const { hostContext } = await request("ui/initialize", {
      protocolVersion: PROTOCOL,
      appInfo: { name: "accord", version: "1" },
      appCapabilities: {},
    });
    showTheme(hostContext);
    notify("ui/notifications/initialized");
    followSize();
  } catch (error) {
    fail(`This frame could not start (UI_INITIALIZE_FAILED): ${error.message}`);
    return;
  }
  if (slice) look();
}

start();
