// The channel of a session over HTTP, where no socket can be opened: an object that the channel
// uses as a socket. Frames of the host come as server-sent events, answers go as requests of the page.

import { Refused, sendAction } from "./api.js";

// What happens in other windows is no event here, so that the page looks again.
const LOOK_MS = 5_000;
const LOST = 1006;

export class HttpSocket {
  constructor(session, token) {
    this.session = session;
    this.token = token;
    this.readyState = WebSocket.CONNECTING;
    queueMicrotask(() => {
      if (this.readyState !== WebSocket.CONNECTING) return;
      this.readyState = WebSocket.OPEN;
      this.onopen?.({});
    });
  }

  send(text) {
    const frame = JSON.parse(text);
    if (frame.type === "subscribe") this.#subscribe(frame);
    else if (frame.type === "action") this.#act(frame);
    else if (frame.type === "ping") this.#hear({ type: "pong", payload: {} });
  }

  close() {
    this.#end(1005);
  }

  #subscribe({ requestId, payload }) {
    this.clientId = payload.clientId;
    const changed = { type: "render_event", payload: {} };
    this.looks = setInterval(() => this.#hear(changed), LOOK_MS);
    // Without a token the page looks again, and there is no stream.
    if (this.token === undefined) {
      this.#hear({ type: "ack", requestId, payload: {} });
      return;
    }
    const query = new URLSearchParams({ wsToken: this.token, fromSeq: payload.fromSeq });
    const path = `/api/sessions/${encodeURIComponent(this.session)}/stream?${query}`;
    this.events = new EventSource(path);
    let isFirst = true;
    this.events.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      // The stream begins with what a socket answers to its subscription.
      this.#hear(isFirst ? { ...frame, requestId } : frame);
      isFirst = false;
    };
    // It would come back with a token that has run out; the channel makes a new one.
    this.events.onerror = () => this.#end(LOST);
  }

  async #act({ requestId, payload }) {
    const { payload: { action, data }, clientSeq: client_seq } = payload;
    const { clientId: client_id } = this;
    const request = { action, data, client_id, client_seq, expect: payload["x-expect"] };
    try {
      const { sequence, at } = (await sendAction(this.session, request)).result;
      const timestamp = Date.parse(at);
      this.#hear({ type: "ack", requestId, payload: { sequence, timestamp } });
    } catch (error) {
      const { code, message, details } = error;
      const isAnswer = error instanceof Refused && (error.status < 500 || code === "APPEND_FAILED");
      if (isAnswer) this.#hear({ type: "error", requestId, payload: { code, message, details } });
      // It is sent again over the next connection.
      else this.#end(LOST);
    }
  }

  #hear(frame) {
    if (this.readyState === WebSocket.OPEN) this.onmessage?.({ data: JSON.stringify(frame) });
  }

  #end(code) {
    if (this.readyState === WebSocket.CLOSED) return;
    this.readyState = WebSocket.CLOSED;
    this.events?.close();
    clearInterval(this.looks);
    queueMicrotask(() => this.onclose?.({ code, reason: "" }));
  }
}
