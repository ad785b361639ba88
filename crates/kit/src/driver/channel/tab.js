// Runs in every document of a tab before its own scripts, as `__accordCheck(isCutOff)`.
//
// - Keeps what was visible, in its order. What becomes visible between two looks may be missed.
// - Can cut the document off from WebSockets.

(isCutOff) => {
  const sockets = new Set();
  const history = [];

  // The visible text of a document or shadow root, with that of frames of the same origin and of
  // open shadow roots in it.
  function textOf(root) {
    const parts = root.body ? [root.body.innerText]
      : [...root.children].map((child) => child.innerText ?? "");
    for (const element of root.querySelectorAll("*")) {
      const inner = element.shadowRoot ?? element.contentDocument;
      if (inner && element.checkVisibility()) parts.push(textOf(inner));
    }
    return parts.join("\n");
  }

  function look() {
    const text = textOf(document);
    if (text !== history.at(-1)) history.push(text);
    return text;
  }

  // A socket that is closed before it is open fails as one without a network does.
  globalThis.WebSocket = new Proxy(WebSocket, {
    construct(Target, args, made) {
      const socket = Reflect.construct(Target, args, made);
      if (isCutOff) socket.close();
      else sockets.add(socket);
      return socket;
    },
  });

  if (globalThis.top === globalThis) {
    const changes = { subtree: true, childList: true, characterData: true, attributes: true };
    new MutationObserver(look).observe(document, changes);
    // Frames and styles change without a mutation of the document.
    setInterval(look, 50);
  }

  return {
    // Whether the kit has judged this document.
    isKnown: false,
    cutOff(value) {
      isCutOff = value;
      if (!isCutOff) return;
      for (const socket of sockets) socket.close();
      sockets.clear();
    },
    // Whether all texts, one of some texts, and none of others are visible.
    shows(all, oneOf, none) {
      const text = look();
      return all.every((part) => text.includes(part))
        && (oneOf.length === 0 || oneOf.some((part) => text.includes(part)))
        && !none.some((part) => text.includes(part));
    },
    // The texts of a list in the order in which they were visible, each as often as it came.
    seen(list) {
      const seen = [];
      for (const text of history) {
        const found = list.filter((part) => text.includes(part));
        for (const part of found) if (seen.at(-1) !== part) seen.push(part);
      }
      return seen;
    },
  };
}
