// A small MCP Apps host: `setup` has the document that it mounts, what the server shows, and the
// slice of the session. Without `setup.page` a test answers the calls of tools, which are in
// `host.calls`. `host` is what a test asks and tells.

globalThis.host = {
  frame: null, calls: [], submitted: [], messages: [], links: [], height: 0, outcome: null,
};

const tell = (message) =>
  host.frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");

function called({ name, arguments: args }) {
  if (!setup.page) {
    return new Promise((answer) => host.calls.push({ name, arguments: args, answer }));
  }
  if (setup.page.refuse) {
    const error = { code: "session_not_found", message: "There is no such session" };
    return { isError: true, structuredContent: { error }, content: [] };
  }
  if (name === "accord_runtime_page") {
    const seq = 1;
    const payload = { step: "built the packages" };
    const message = { channel: "progress", mode: "append", payload };
    const messages = args.fromSeq < seq ? [{ ...message, seq }] : [];
    return { structuredContent: { ...setup.page, messages }, content: [] };
  }
  host.submitted.push(args);
  const outcome = host.outcome ?? { ok: true, consumerPresent: false };
  return { structuredContent: outcome, content: [] };
}

const answers = {
  "ui/initialize": () => ({
    protocolVersion: "2026-01-26", hostInfo: { name: "host", version: "1" },
    hostCapabilities: { serverTools: {}, openLinks: {}, message: {} },
    hostContext: { theme: "dark" },
  }),
  "tools/call": called,
  "ui/open-link": ({ url }) => (host.links.push(url), {}),
  "ui/message": (message) => (host.messages.push(message), {}),
};

addEventListener("message", async ({ source, data }) => {
  if (source !== host.frame.contentWindow) return;
  if (data.method === "ui/notifications/initialized") {
    const result = { content: [], _meta: { "ai.ggui/render": setup.slice } };
    tell({ method: "ui/notifications/tool-input", params: { arguments: {} } });
    tell({ method: "ui/notifications/tool-result", params: result });
  } else if (data.method === "ui/notifications/size-changed") {
    host.height = data.params.height;
  } else if (data.id !== undefined) {
    tell({ id: data.id, result: await answers[data.method](data.params) });
  }
});

addEventListener("DOMContentLoaded", () => {
  host.frame = document.createElement("iframe");
  host.frame.sandbox = "allow-scripts allow-same-origin allow-forms";
  host.frame.srcdoc = setup.html;
  document.body.append(host.frame);
});
