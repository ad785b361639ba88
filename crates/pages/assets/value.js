// JSON values as people read them. The server writes props in the same form; this is for what
// arrives over the channel.

import { make } from "./dom.js";
import { visible } from "./text.js";

const MOST_DEPTH = 6;
const MOST_ITEMS = 200;

// A list has the direction of its first letter.
function directed(list) {
  list.dir = "auto";
  return list;
}

const none = (text) => make("span", "none", text);

function text(value) {
  return value === "" ? none("empty") : make("span", "text", visible(value));
}

function rest(count) {
  return count > MOST_ITEMS ? [none(`and ${count - MOST_ITEMS} more`)] : [];
}

export function shown(value, depth = 0) {
  if (value === null || value === undefined) return none("none");
  if (typeof value === "boolean") return document.createTextNode(value ? "yes" : "no");
  if (typeof value === "number") return document.createTextNode(String(value));
  if (typeof value === "string") return text(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return none("empty");
  if (depth >= MOST_DEPTH) return make("code", "json", visible(JSON.stringify(value)));
  const first = entries.slice(0, MOST_ITEMS);
  if (Array.isArray(value)) {
    const items = first.map(([, item]) => make("li", "", shown(item, depth + 1)));
    const more = rest(entries.length).map((r) => make("li", "", r));
    return directed(make("ul", "values", ...items, ...more));
  }
  const members = first.map(([name, member]) =>
    make("div", "", make("dt", "", visible(name)), make("dd", "", shown(member, depth + 1))));
  const more = rest(entries.length).map((r) =>
    make("div", "", make("dt", "", "…"), make("dd", "", r)));
  return directed(make("dl", "values", ...members, ...more));
}
