// Forms: what was entered, as JSON; what is wrong, beside its field; what was entered before, in a
// new fragment.

import { REQUIRED, messageOf } from "./messages.js";
import { visible } from "./text.js";

let clones = 0;

// The fields directly below a form, a group or an entry.
function fieldsOf(container) {
  return [...container.querySelectorAll("[data-field]")].filter(
    (field) => field.parentElement.closest("[data-field], form") === container,
  );
}

const inputsOf = (field) => [...field.querySelectorAll("[data-input]")];

// The data of a form, and what is wrong with it before it is sent.
export function readForm(form) {
  const problems = [];
  const { shape } = form.dataset;
  let data;
  if (shape === "object") data = readMembers(form, problems);
  else if (shape === "value") data = readField(fieldsOf(form)[0], problems);
  return { data, problems };
}

// What was entered as a secret.
export function secretsOf(form) {
  const inputs = [...form.querySelectorAll('input[type="password"]')];
  return new Set(inputs.map((input) => input.value).filter(Boolean));
}

// The data of a form as it may be shown: without what was entered as a secret.
export function withoutSecrets(form, data) {
  const secrets = secretsOf(form);
  const replace = (name, value) => (secrets.has(value) ? "(not shown)" : value);
  return data === undefined ? undefined : JSON.parse(JSON.stringify(data, replace));
}

function readMembers(container, problems) {
  const data = {};
  for (const field of fieldsOf(container)) {
    const value = readField(field, problems);
    // A plain assignment of `__proto__` would set no member.
    if (value !== undefined) {
      Object.defineProperty(data, field.dataset.name, {
        value, enumerable: true, configurable: true, writable: true,
      });
    }
  }
  return data;
}

// The value of a field that was left empty.
function readEmpty(field, problems) {
  if (!("required" in field.dataset)) return undefined;
  if ("nullable" in field.dataset) return null;
  problems.push({ path: pathOf(field), message: REQUIRED });
  return undefined;
}

function readField(field, problems) {
  const wrong = (message) => {
    problems.push({ path: pathOf(field), message });
    return undefined;
  };
  const input = inputsOf(field)[0];
  switch (field.dataset.kind) {
    case "fixed":
      return JSON.parse(field.dataset.value);
    case "group":
      return readGroup(field, problems);
    case "list":
      return readList(field, problems);
    case "several": {
      const chosen = inputsOf(field).filter((box) => box.checked);
      if (chosen.length === 0 && !("required" in field.dataset)) return undefined;
      return chosen.map((box) => JSON.parse(box.value));
    }
    case "boolean":
    case "choice":
      return input.value === "" ? readEmpty(field, problems) : JSON.parse(input.value);
    case "integer":
    case "number":
      return readNumber(field, input, wrong, problems);
    case "json":
      if (input.value.trim() === "") return readEmpty(field, problems);
      try {
        return JSON.parse(input.value);
      } catch {
        return wrong("This is not valid JSON.");
      }
    case "date-time": {
      if (input.validity.badInput) return wrong("Enter a date and a time.");
      if (input.value === "") return readEmpty(field, problems);
      return new Date(input.value).toISOString();
    }
    default:
      if (input.validity.badInput) return wrong("This is not complete.");
      return input.value === "" ? readEmpty(field, problems) : input.value;
  }
}

function readNumber(field, input, wrong, problems) {
  if (input.validity.badInput) return wrong("Enter a number.");
  if (input.value.trim() === "") return readEmpty(field, problems);
  const number = Number(input.value);
  if (!Number.isFinite(number)) return wrong("Enter a number.");
  if (field.dataset.kind === "integer" && !Number.isSafeInteger(number)) {
    return wrong("Enter a whole number.");
  }
  if (input.min !== "" && number < Number(input.min)) return wrong(`Enter at least ${input.min}.`);
  if (input.max !== "" && number > Number(input.max)) return wrong(`Enter at most ${input.max}.`);
  return number;
}

function readGroup(field, problems) {
  const own = [];
  const data = readMembers(field, own);
  const isBlank = Object.keys(data).length === 0;
  if (isBlank && !("required" in field.dataset)) return undefined;
  problems.push(...own);
  return data;
}

function readList(field, problems) {
  const own = [];
  const entries = entriesOf(field).map((entry) => readField(entry, own));
  const isBlank = entries.every(isUntouched);
  if (isBlank && !("required" in field.dataset)) return undefined;
  problems.push(...own);
  return entries;
}

// Whether nothing was entered: also not into any member of a group.
function isUntouched(value) {
  const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
  return value === undefined || (isGroup && Object.values(value).every(isUntouched));
}

const entriesOf = (list) => [...list.querySelectorAll(":scope > [data-items] > li > [data-field]")];

// The place of a field in the data, as violations name it. Inside an entry of a list the markup has
// `[]` for the list and the number.
function pathOf(field) {
  const path = field.dataset.field;
  const entry = field.closest("[data-items] > li > [data-field]");
  if (!entry) return path;
  const list = entry.parentElement.closest("[data-field]");
  return `${pathOf(list)}[${entriesOf(list).indexOf(entry)}]${path.slice("[]".length)}`;
}

// Lists ---------------------------------------------------------------------------------------

function addEntry(list) {
  const items = list.querySelector(":scope > [data-items]");
  const entry = list.querySelector(":scope > template").content.cloneNode(true);
  clones += 1;
  const renamed = (names) => names.split(" ").map((name) => `${name}-${clones}`).join(" ");
  for (const element of entry.querySelectorAll("[id], [for], [aria-describedby]")) {
    for (const name of ["id", "for", "aria-describedby"]) {
      const value = element.getAttribute(name);
      if (value) element.setAttribute(name, renamed(value));
    }
  }
  items.append(entry);
  number(list);
  return items.lastElementChild;
}

function number(list) {
  for (const [index, entry] of entriesOf(list).entries()) {
    const label = entry.querySelector(":scope > label, :scope > legend");
    if (label) label.textContent = `Entry ${index + 1}`;
    const remove = entry.parentElement.querySelector("[data-remove]");
    remove?.setAttribute("aria-label", `Remove entry ${index + 1}`);
  }
  const add = list.querySelector(":scope > [data-add]");
  const most = Number(list.dataset.most ?? Infinity);
  add.hidden = entriesOf(list).length >= most;
}

// Fills the lists of new forms, and follows their buttons.
export function startForms(root) {
  for (const list of root.querySelectorAll('[data-kind="list"]')) {
    const values = JSON.parse(list.dataset.values);
    // A list that need not be there begins without entries.
    const asked = "required" in list.dataset ? Number(list.dataset.least ?? 0) : 0;
    const least = Math.max(values.length, Math.min(asked, 20));
    for (let index = 0; index < least; index += 1) {
      addEntry(list);
      if (index < values.length) setValue(entriesOf(list).at(-1), values[index]);
    }
  }
}

// Enters a value that the agent proposed into an entry of a list, or into a member of one.
function setValue(field, value) {
  const { kind } = field.dataset;
  if (kind === "group") {
    for (const member of fieldsOf(field)) {
      const { name } = member.dataset;
      if (Object.hasOwn(Object(value), name)) setValue(member, value[name]);
    }
    return;
  }
  if (kind === "several") {
    const chosen = [value].flat().map((one) => JSON.stringify(one));
    for (const box of inputsOf(field)) box.checked = chosen.includes(box.value);
    return;
  }
  if (kind === "fixed") return;
  const input = inputsOf(field)[0];
  const isText = typeof value === "string" && input.tagName !== "SELECT";
  input.value = isText ? value : JSON.stringify(value);
}

export function followLists(root) {
  root.addEventListener("click", (event) => {
    const add = event.target.closest("[data-add]");
    const remove = event.target.closest("[data-remove]");
    const list = (add ?? remove?.closest("[data-items]"))?.closest("[data-field]");
    if (add) {
      addEntry(list).querySelector("[data-input]")?.focus();
    } else if (remove) {
      remove.closest("li").remove();
      number(list);
      list.querySelector(":scope > [data-add]").focus();
    }
    // As if something was typed, so that it is kept.
    list?.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// Problems ------------------------------------------------------------------------------------

export function clearProblems(form) {
  for (const error of form.querySelectorAll("[data-error], [data-form-error]")) {
    error.textContent = "";
    error.hidden = true;
  }
  for (const input of form.querySelectorAll("[aria-invalid]")) {
    input.removeAttribute("aria-invalid");
  }
}

// The field of a place, or the nearest one around it.
function fieldAt(form, path) {
  const fields = [...form.querySelectorAll("[data-field]")];
  let place = path;
  for (;;) {
    const found = fields.find((field) => pathOf(field) === place);
    if (found || place === "") return found;
    const end = Math.max(place.lastIndexOf("."), place.lastIndexOf("["));
    place = end > 0 ? place.slice(0, end) : "";
  }
}

// Shows each problem beside its field, and the others above the button.
export function showProblems(form, problems, summary) {
  clearProblems(form);
  const others = [];
  let first;
  for (const { path, message } of problems) {
    const field = fieldAt(form, path);
    const error = field && [...field.querySelectorAll("[data-error]")].find(
      (error) => error.closest("[data-field]") === field,
    );
    if (!error) {
      others.push(message);
      continue;
    }
    // What is wrong deeper than the field says where: the field is entered as JSON.
    const within = path.slice(pathOf(field).length).replace(/^\./, "");
    const text = within ? `${within}: ${message}` : message;
    // A message of the server has names and values that the agent wrote.
    error.append(error.hasChildNodes() ? " " : "", visible(text));
    error.hidden = false;
    // What is wrong with a whole group or list is not wrong with each input of it.
    const inputs = inputsOf(field).filter((input) => input.closest("[data-field]") === field);
    for (const input of inputs) input.setAttribute("aria-invalid", "true");
    first ??= inputsOf(field)[0] ?? field.querySelector("button");
  }
  const whole = form.querySelector("[data-form-error]");
  whole.replaceChildren(visible([summary, ...others].filter(Boolean).join(" ")));
  whole.hidden = whole.textContent === "";
  (first ?? whole).focus();
}

// The violations of a refused action as problems of its form.
export function violationsOf(action, error) {
  const violations = error.details?.violations ?? [];
  const root = `${action}.data`;
  return violations.map((violation) => {
    const { field } = violation;
    const isOfData = typeof field === "string" && field.startsWith(root);
    const path = isOfData ? field.slice(root.length).replace(/^\./, "") : null;
    return { path: path ?? "\u0000", message: messageOf(violation) };
  });
}

// What was entered ----------------------------------------------------------------------------

// Everything that was entered in the forms below a root, by action and place.
export function capture(root) {
  const entered = new Map();
  for (const form of root.querySelectorAll("form[data-action]")) {
    const values = [];
    for (const field of form.querySelectorAll("[data-field]")) {
      const { kind } = field.dataset;
      const path = pathOf(field);
      if (kind === "list") values.push({ path, kind, count: entriesOf(field).length });
      else if (kind === "several") {
        const chosen = inputsOf(field).filter((box) => box.checked).map((box) => box.value);
        values.push({ path, kind, chosen });
      } else if (kind !== "group" && kind !== "fixed") {
        const input = inputsOf(field)[0];
        values.push({ path, kind, value: input.value, isSecret: input.type === "password" });
      }
    }
    entered.set(form.dataset.action, values);
  }
  return entered;
}

// Enters it again, where action, place and kind are the same.
export function restore(root, entered) {
  for (const form of root.querySelectorAll("form[data-action]")) {
    for (const kept of entered.get(form.dataset.action) ?? []) {
      const fields = [...form.querySelectorAll("[data-field]")];
      const field = fields.find((field) => pathOf(field) === kept.path);
      if (!field || field.dataset.kind !== kept.kind) continue;
      if (kept.kind === "list") {
        while (entriesOf(field).length < kept.count) addEntry(field);
        for (const entry of entriesOf(field).slice(kept.count)) entry.parentElement.remove();
        number(field);
      } else if (kept.kind === "several") {
        for (const box of inputsOf(field)) box.checked = kept.chosen.includes(box.value);
      } else {
        const input = inputsOf(field)[0];
        const isOffered = input.tagName !== "SELECT"
          || [...input.options].some((option) => option.value === kept.value);
        if (isOffered) input.value = kept.value;
      }
    }
  }
}

// Sets a form back to what the agent proposed.
export function resetForm(form) {
  form.reset();
  for (const list of form.querySelectorAll('[data-kind="list"]')) {
    list.querySelector(":scope > [data-items]").replaceChildren();
  }
  startForms(form);
  clearProblems(form);
}
