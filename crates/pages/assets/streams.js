// The lists of messages. They are kept apart from the markup, so that a new fragment of the server
// shows the same messages.

import { make } from "./dom.js";
import { shown } from "./value.js";

const MOST_MESSAGES = 500;
const LIFECYCLE = "_ggui:lifecycle";

export class Streams {
  constructor(root, onLifecycle) {
    this.root = root;
    this.onLifecycle = onLifecycle;
    this.channels = new Map();
  }

  // Takes the payload of a `data` frame.
  take(frame) {
    if (frame.channel === LIFECYCLE) this.onLifecycle(frame.payload);
    if (frame.channel.startsWith("_ggui:")) return;
    const channel = this.channels.get(frame.channel) ?? { messages: [], dropped: 0 };
    this.channels.set(frame.channel, channel);
    const message = { payload: frame.payload, at: new Date() };
    const replaces = frame.mode === "replace";
    if (replaces) channel.messages = [message];
    else channel.messages.push(message);
    if (channel.messages.length > MOST_MESSAGES) {
      channel.messages.shift();
      channel.dropped += 1;
    }
    if (frame.complete) channel.isComplete = true;
    this.#show(frame.channel, channel, replaces ? null : message);
  }

  // Shows every message again, in a new fragment.
  showAll() {
    for (const [name, channel] of this.channels) this.#show(name, channel, null);
  }

  clear() {
    this.channels.clear();
    this.isTruncated = false;
  }

  // Says that earlier messages are gone.
  setTruncated() {
    this.isTruncated = true;
    this.showAll();
  }

  #show(name, channel, added) {
    const sections = [...this.root.querySelectorAll("[data-channel]")];
    const section = sections.find((section) => section.dataset.channel === name);
    if (!section) return;
    const list = section.querySelector("[data-items]");
    const box = list.parentElement;
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    const items = added ? [added] : channel.messages;
    const nodes = items.map((message) => make("li", "", shown(message.payload)));
    if (added) {
      list.append(...nodes);
      while (list.children.length > MOST_MESSAGES) list.firstElementChild.remove();
    } else {
      list.replaceChildren(...nodes);
    }
    if (isAtEnd) box.scrollTop = box.scrollHeight;
    const state = section.querySelector("[data-stream-state]");
    const earlier = this.isTruncated ? "Earlier messages are no longer kept. " : "";
    const dropped = channel.dropped > 0 ? `${channel.dropped} earlier ones are not shown. ` : "";
    state.textContent = `${earlier}${dropped}${channel.isComplete ? "Complete." : ""}`.trim();
  }
}
