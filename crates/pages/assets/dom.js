// The only place that turns text of the server into markup. It takes fragments of this host, in
// which everything that an agent wrote is escaped.

const policy = window.trustedTypes
  ? trustedTypes.createPolicy("accord", { createHTML: (fragment) => fragment })
  : { createHTML: (fragment) => fragment };

export const byId = (id) => document.getElementById(id);

export function fill(element, fragment) {
  element.innerHTML = policy.createHTML(fragment);
}

// An element with a class and children, which are text or elements.
export function make(name, className, ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

// A message of the server as a sentence.
export function sentence(text) {
  const end = /[.!?]$/.test(text) ? "" : ".";
  return text.charAt(0).toUpperCase() + text.slice(1) + end;
}

// Sets a text only if it changes, so that a screen reader says it once.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
