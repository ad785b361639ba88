// The channel of a stub host, in the page: it takes the place of WebSocket. `stubHost` is what a
// test asks and tells. What the host keeps survives a lost connection and a reload, as it does on a
// disk, and the tabs of a browser share it.

globalThis.stubHost = {
  isUp: true,
  sockets: [],
  // Every action that was stored, once for each (clientId, clientSeq).
  get actions() {
    return JSON.parse(localStorage.getItem("stub.actions") ?? "[]");
  },
  // What the host says to the next action instead of storing it.
  refusal: null,
  // Whether nothing can be stored.
  isFull: false,
  streamSeq: 0,
  stream: [],

  // Ends every connection without a word, as a crash does.
  crash() {
    this.isUp = false;
    for (const socket of this.sockets.splice(0)) socket.end(1006, "");
  },

  emit(channel, payload, mode = "append") {
    this.streamSeq += 1;
    const frame = { sessionId: "live_1", channel, mode, payload, seq: this.streamSeq };
    this.stream.push(frame);
    this.tell({ type: "data", payload: frame });
  },

  tell(frame) {
    for (const socket of this.sockets) socket.hear(frame);
  },
};

// A browser that discards a tab asks nobody. This comes before the listener of the page.
addEventListener("beforeunload", (event) => {
  if (globalThis.isDiscarded) event.stopImmediatePropagation();
});

globalThis.WebSocket = class {
  static OPEN = 1;

  constructor(url) {
    this.url = url;
    this.readyState = 0;
    setTimeout(() => {
      if (!stubHost.isUp) {
        this.end(1006, "");
        return;
      }
      this.readyState = 1;
      stubHost.sockets.push(this);
      this.onopen?.({});
    });
  }

  send(text) {
    const { type, payload, requestId } = JSON.parse(text);
    const timestamp = Date.now();
    if (type === "ping") this.hear({ type: "pong", payload: {}, requestId });
    if (type === "subscribe") {
      this.clientId = payload.clientId;
      const ack = { sequence: stubHost.actions.length, timestamp, streamSeq: stubHost.streamSeq };
      this.hear({ type: "ack", requestId, payload: ack });
      for (const frame of stubHost.stream) {
        if (frame.seq > payload.fromSeq) this.hear({ type: "data", payload: frame });
      }
    }
    if (type === "action") {
      const key = `${this.clientId} ${payload.clientSeq}`;
      if (stubHost.isFull) {
        const error = { code: "APPEND_FAILED", message: "the disk is full" };
        this.hear({ type: "error", requestId, payload: error });
        return;
      }
      if (stubHost.refusal) {
        this.hear({ type: "error", requestId, payload: stubHost.refusal });
        stubHost.refusal = null;
        return;
      }
      const { actions } = stubHost;
      let index = actions.findIndex((action) => action.key === key);
      if (index < 0) index = actions.push({ key, expect: payload["x-expect"], ...payload.payload }) - 1;
      localStorage.setItem("stub.actions", JSON.stringify(actions));
      // A crash between the commit and the answer: the client has to ask again.
      if (stubHost.crashAfterAction) {
        stubHost.crashAfterAction = false;
        stubHost.crash();
        return;
      }
      this.hear({ type: "ack", requestId, payload: { sequence: index + 1, timestamp } });
    }
  }

  close() {
    this.end(1005, "");
  }

  hear(frame) {
    setTimeout(() => {
      if (this.readyState === 1) this.onmessage?.({ data: JSON.stringify(frame) });
    });
  }

  end(code, reason) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    stubHost.sockets = stubHost.sockets.filter((socket) => socket !== this);
    setTimeout(() => this.onclose?.({ code, reason }));
  }
};
