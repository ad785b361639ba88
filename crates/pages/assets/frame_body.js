// What a frame shows before it knows its session.

import { fill, make } from "./dom.js";

const BODY = `
<main id="main" tabindex="-1">
<p id="notice" class="notice" role="status"></p>
<div id="session" hidden>
<div id="head"></div>
<p id="agent" class="agent" role="status"></p>
<div id="props"></div>
<div id="actions"></div>
<div id="door" class="door" hidden><p id="door-text"></p>
<button type="button" id="open-page" class="secondary">Open in Accord</button></div>
<div id="answers"></div>
<div id="streams"></div>
</div>
</main>
<dialog id="confirm" aria-labelledby="confirm-title">
<h2 id="confirm-title">Send this answer?</h2>
<p id="confirm-label"></p>
<div id="confirm-data"></div>
<p class="buttons"><button type="button" id="confirm-no" class="quiet">Cancel</button>
<button type="button" id="confirm-yes">Send</button></p>
</dialog>
`;

// Builds the frame in this document. One that was not made by Accord has no style yet.
export function buildFrame() {
  const root = make("div", "");
  fill(root, BODY);
  document.body.prepend(root);
  document.body.dataset.view = "starting";
  if (document.documentElement.classList.contains("frame")) return;
  document.documentElement.classList.add("frame");
  const style = make("link", "");
  style.rel = "stylesheet";
  style.href = new URL("./page.css", import.meta.url);
  document.head.append(style);
}
