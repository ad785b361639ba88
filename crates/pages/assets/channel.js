// The channel of a session: one socket, opened with a token that the host mints for the login.
// Where no socket can be opened, requests take its place (`fallback.js`).
//
// An answer is neither lost nor counted twice:
// - It is kept by the tab before it is sent, and until the host has acknowledged or refused it. A
//   page that is loaded again sends what it finds.
// - The host counts (clientId, clientSeq) once. An answer keeps both for all its life, also in a
//   page that was loaded again. A socket has one clientId: the answers of earlier loads are sent
//   first, each by a socket that subscribes with the clientId of their load.
// - New answers get numbers only under the clientId that this load of the page made for itself. A
//   tab that is duplicated copies the kept answers of the first one. Then both send the same answer
//   under the same numbers, which counts once; and neither can use a number of the other for an
//   answer of its own, which would be taken for the first one and lost.
// - The host knows the numbers of a session as long as it lives. An answer to a session that ended
//   does not go to a later one with the same id, which began at another time.
//
// - `fromSeq` is the last message that arrived, so that none is missed and none shown twice.

import { randomId } from "./api.js";
import { HttpSocket } from "./fallback.js";

const VERSION = "draft-2026-08-19";
const PING_MS = 30_000;
// A server from which nothing comes for so long after an action or a ping is taken for gone. An
// action that is sent again counts once.
const ANSWER_MS = 15_000;
const OPEN_MS = 20_000;
const MOST_DELAY_MS = 60_000;
const RESTART_MS = 100;
const MOST_WAITING = 500;
// So many sockets in a row that never opened, with a host that answers, are blocked on the way.
const BLOCKED = 2;

// What the agent may know about this page.
function hostContext() {
  const has = (query) => matchMedia(query).matches;
  return {
    availableDisplayModes: ["fullscreen"],
    currentDisplayMode: "fullscreen",
    containerDimensions: { width: innerWidth, height: innerHeight },
    platform: "web",
    deviceCapabilities: { touch: has("(any-pointer: coarse)"), hover: has("(any-hover: hover)") },
    locale: navigator.language || "en",
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  };
}

// The time until another attempt, which grows with the failures before it.
function delayAfter(failures) {
  return Math.min(1000 * 2 ** failures, MOST_DELAY_MS) * (0.8 + 0.4 * Math.random());
}

function webSocket(token) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const query = `wsToken=${encodeURIComponent(token.ws_token)}`;
  return new WebSocket(`${scheme}://${location.host}/ws?${query}`);
}

export class Channel {
  // `kept` has the answers of earlier loads. `on` has the callbacks: state, subscribed, changed,
  // settled, delayed, data, drained, refused.
  constructor(session, mint, kept, on) {
    this.session = session;
    this.mint = mint;
    this.kept = kept;
    this.on = on;
    this.clientId = randomId();
    this.nextSeq = 1;
    this.lastSeq = 0;
    this.waiting = new Map();
    // Without its frame, an answer had a secret, which is not kept.
    this.unkept = [];
    for (const answer of kept.answers()) {
      if (answer.frame) this.waiting.set(answer.frame.requestId, answer);
      else this.unkept.push(answer);
    }
    this.failures = 0;
    this.attempts = 0;
    // Sockets in a row that never opened.
    this.unopened = 0;
    this.isStopped = true;
    addEventListener("online", () => this.#hurry());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") this.#hurry();
    });
  }

  start() {
    if (!this.isStopped) return;
    this.isStopped = false;
    this.failures = 0;
    this.#connect();
  }

  stop() {
    this.isStopped = true;
    clearTimeout(this.timer);
    clearInterval(this.pings);
    this.isSubscribed = false;
    this.isConnecting = false;
    const socket = this.socket;
    this.socket = null;
    socket?.close();
  }

  // Sends an action, now or when the connection is back. `expect` is the digest of what the person
  // was shown; an answer that is kept keeps it. `settled` gets the answer.
  act(name, data, hasSecret, expect) {
    if (this.waiting.size >= MOST_WAITING) {
      const message = "Too many answers wait to be sent.";
      this.on.settled(name, { error: { code: "", message } });
      return;
    }
    const { clientId, nextSeq: clientSeq } = this;
    this.nextSeq += 1;
    const body = data === undefined ? { action: name } : { action: name, data };
    const payload = {
      sessionId: this.session, type: "data:submit", clientSeq, payload: body, "x-expect": expect,
    };
    const requestId = `action-${clientId}-${clientSeq}`;
    const frame = { type: "action", requestId, payload };
    const { begunAt } = this;
    const answer = {
      id: requestId, action: name, clientId, clientSeq, at: Date.now(), begunAt, frame,
    };
    this.waiting.set(requestId, answer);
    this.kept.keepAnswer(requestId, hasSecret ? { ...answer, frame: undefined } : answer);
    if (this.#isReady(answer)) this.#sendAction(answer);
  }

  // The actions that were not answered yet, by name.
  waitingActions() {
    return [...this.waiting.values()].map((answer) => answer.action);
  }

  // The actions whose answers had a secret and were not confirmed before the page was loaded again.
  takeUnkept() {
    const unkept = this.unkept.splice(0);
    for (const answer of unkept) this.kept.dropAnswer(answer.id);
    return unkept.map((answer) => answer.action);
  }

  // Forgets what arrived and what waits to be sent. Returns how many actions are not sent.
  forget() {
    const unsent = this.waiting.size;
    this.waiting.clear();
    this.unkept = [];
    this.kept.dropAnswers();
    this.lastSeq = 0;
    return unsent;
  }

  async #connect() {
    if (this.isStopped) return;
    clearTimeout(this.timer);
    this.attempts += 1;
    const attempt = this.attempts;
    this.isConnecting = true;
    this.on.state("connecting");
    let token;
    try {
      token = await this.mint();
    } catch (error) {
      if (this.isStopped || attempt !== this.attempts) return;
      this.isConnecting = false;
      // A refusal with a status below 500 does not change by itself.
      if (error.status && error.status < 500 && error.status !== 429) {
        this.isStopped = true;
        this.on.refused(error);
      } else {
        this.#retry();
      }
      return;
    }
    if (this.isStopped || attempt !== this.attempts) return;
    const isBlocked = this.unopened >= BLOCKED;
    // Without a token there are requests alone.
    const socket = isBlocked || token === null
      ? new HttpSocket(this.session, token?.ws_token) : webSocket(token);
    this.socket = socket;
    this.subscribeId = `subscribe-${randomId()}`;
    const [oldest] = this.waiting.values();
    this.socketId = oldest?.clientId ?? this.clientId;
    this.heardAt = Date.now();
    const late = setTimeout(() => this.#drop(socket), OPEN_MS);
    let wasOpen = false;
    socket.onopen = () => {
      wasOpen = true;
      if (!isBlocked) this.unopened = 0;
      this.#send({
        type: "subscribe",
        requestId: this.subscribeId,
        payload: {
          sessionId: this.session,
          appId: token?.app_id,
          role: "user",
          wsToken: token?.ws_token,
          clientId: this.socketId,
          fromSeq: this.lastSeq,
          followLedger: true,
          supportedVersions: [VERSION],
        },
      });
    };
    socket.onmessage = (event) => {
      if (this.socket !== socket) return;
      this.heardAt = Date.now();
      const frame = JSON.parse(event.data);
      if (frame.requestId === this.subscribeId) clearTimeout(late);
      this.#take(frame);
    };
    socket.onclose = (event) => {
      clearTimeout(late);
      if (this.socket !== socket) return;
      this.socket = null;
      this.isConnecting = false;
      this.isSubscribed = false;
      clearInterval(this.pings);
      // A socket is tried again after a failure of the requests.
      if (isBlocked) this.unopened = BLOCKED - 1;
      else if (!wasOpen) this.unopened += 1;
      if (this.isStopped) return;
      if (event.code === 1008 && event.reason === "session_expired") {
        this.isStopped = true;
        this.on.refused({ code: "LIVE_SESSION_ENDED", status: 410, message: "" });
      } else {
        const failure = wasOpen ? undefined : "WS_HANDSHAKE_FAILED";
        this.#retry(event.code === 1012 ? RESTART_MS : undefined, failure);
      }
    };
  }

  // Leaves a connection that seems dead. Its end may take minutes, so it is not waited for.
  #drop(socket) {
    if (!socket || this.socket !== socket) return;
    this.socket = null;
    this.isConnecting = false;
    this.isSubscribed = false;
    clearInterval(this.pings);
    socket.close();
    this.#retry();
  }

  // Leaves a connection on which nothing arrives for some time from now.
  #expectAnswer() {
    const { socket } = this;
    const sentAt = Date.now();
    setTimeout(() => {
      if (this.heardAt < sentAt) this.#drop(socket);
    }, ANSWER_MS);
  }

  // Whether an answer can go over the socket that is open.
  #isReady(answer) {
    return this.isSubscribed && answer.clientId === this.socketId;
  }

  #sendAction(answer) {
    clearTimeout(answer.timer);
    this.#send(answer.frame);
    this.#expectAnswer();
  }

  // Sends an answer that the host could not store again, over the same connection.
  #sendLater(answer) {
    answer.failures = (answer.failures ?? 0) + 1;
    const wait = delayAfter(answer.failures - 1);
    this.on.delayed(answer.action, Math.ceil(wait / 1000));
    answer.timer = setTimeout(() => {
      // Without a connection, the next one sends it.
      if (this.waiting.has(answer.id) && this.#isReady(answer)) this.#sendAction(answer);
    }, wait);
  }

  // Leaves a socket that has sent all answers of an earlier load.
  #goOn() {
    const { socket, socketId } = this;
    const isDone = ![...this.waiting.values()].some((answer) => answer.clientId === socketId);
    if (!this.isSubscribed || socketId === this.clientId || !isDone) return;
    this.socket = null;
    this.isSubscribed = false;
    clearInterval(this.pings);
    socket.close();
    this.#connect();
  }

  // `failure` is the protocol's code of what went wrong, if it has one.
  #retry(delay, failure) {
    if (this.isStopped) return;
    // A restart is quick once; a server that does not come back is asked less and less often.
    const isQuick = delay !== undefined && this.failures === 0;
    const isNewWay = this.unopened === BLOCKED && failure !== undefined;
    const wait = isQuick ? delay : isNewWay ? 0 : delayAfter(this.failures);
    this.failures += 1;
    const state = navigator.onLine === false ? "offline" : "waiting";
    this.on.state(state, Math.ceil(wait / 1000), failure);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.#connect(), wait);
  }

  // Connects at once if it waits to do so.
  #hurry() {
    if (this.isStopped || this.socket || this.isConnecting) return;
    this.#connect();
  }

  #send(frame) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  #take(frame) {
    const { type, payload, requestId } = frame;
    if (requestId === this.subscribeId) {
      if (type === "ack") this.#subscribed(payload);
      else if (type === "error") this.#notSubscribed(payload);
      return;
    }
    switch (type) {
      case "ack":
        this.#answered(requestId, { ack: payload });
        break;
      case "error":
        this.#answered(requestId, { error: payload });
        break;
      case "data":
        if (payload.seq !== undefined && payload.seq <= this.lastSeq) break;
        if (payload.seq !== undefined) this.lastSeq = payload.seq;
        this.on.data(payload);
        break;
      case "render":
      case "props_update":
        this.on.changed();
        break;
      case "render_event":
        // Somebody answered: here, in another tab or on another device.
        this.on.changed();
        break;
      case "drain_ack":
        this.on.drained();
        break;
      default:
        break;
    }
  }

  #subscribed(payload) {
    this.isConnecting = false;
    this.isSubscribed = true;
    this.failures = 0;
    this.pings = setInterval(() => this.#ping(), PING_MS);
    this.begunAt = payload.session?.createdAt;
    for (const answer of [...this.waiting.values()]) {
      if (answer.begunAt === undefined || answer.begunAt === this.begunAt) continue;
      const error = { code: "SESSION_NOT_FOUND", message: "The session of this answer ended." };
      this.#answered(answer.id, { error });
    }
    // These may have been all of an earlier load, and then another socket opens.
    if (!this.isSubscribed) return;
    for (const answer of this.waiting.values()) {
      if (this.#isReady(answer)) this.#sendAction(answer);
    }
    this.#send({
      type: "host_context_observed",
      payload: { sessionId: this.session, hostContext: hostContext() },
    });
    this.on.state("live");
    this.on.subscribed(payload);
  }

  #notSubscribed(error) {
    // A token that ran out is replaced by the next connection; the others do not change.
    if (/^(BOOTSTRAP_EXPIRED|UNAUTHENTICATED|SESSION_CREATE_FAILED)$/.test(error.code)) {
      this.#drop(this.socket);
      return;
    }
    this.stop();
    this.on.refused({ code: error.code, status: 409, message: error.message });
  }

  #answered(requestId, answer) {
    const settled = this.waiting.get(requestId);
    if (!settled) return;
    if (answer.error?.code === "APPEND_FAILED") {
      this.#sendLater(settled);
      return;
    }
    this.waiting.delete(requestId);
    this.kept.dropAnswer(requestId);
    this.on.settled(settled.action, answer);
    this.#goOn();
  }

  #ping() {
    // A connection that died without a word is noticed by its silence.
    this.#send({ type: "ping", payload: {}, requestId: `ping-${Date.now()}` });
    this.#expectAnswer();
  }
}
