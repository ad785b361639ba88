// How an outcome is compared with what a case expects, by the rules of the public fixture format.

/** The assertions that the public format has. */
export const ASSERTIONS = ["id_prefix", "nonempty_string", "present", "unordered_array"];

export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
export const isAssertion = (value) => isObject(value) && typeof value.assert === "string";

/** The places where an outcome differs from the expectation. */
export function mismatches(expected, actual, at = "") {
  if (isAssertion(expected)) return holds(expected, actual) ? [] : [difference(expected, actual, at)];
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return [difference(expected, actual, at)];
    return expected.flatMap((item, index) => mismatches(item, actual[index], `${at}/${index}`));
  }
  if (isObject(expected)) {
    if (!isObject(actual)) return [difference(expected, actual, at)];
    return Object.entries(expected)
      .filter(([key]) => key !== "warnings_allowed")
      .flatMap(([key, value]) => mismatches(value, actual[key], `${at}/${key}`));
  }
  return Object.is(expected, actual) ? [] : [difference(expected, actual, at)];
}

function holds(assertion, actual) {
  switch (assertion.assert) {
    case "nonempty_string":
      return typeof actual === "string" && actual.trim() !== "";
    case "id_prefix":
      return typeof actual === "string" && actual.startsWith(assertion.value);
    case "present":
      return actual !== undefined;
    case "unordered_array":
      return sameInAnyOrder(assertion.items, actual);
    default:
      return false;
  }
}

function sameInAnyOrder(items, actual) {
  if (!Array.isArray(actual) || actual.length !== items.length) return false;
  const left = [...actual];
  return items.every((item) => {
    const index = left.findIndex((candidate) => mismatches(item, candidate).length === 0);
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}

function difference(expected, actual, at) {
  return `${at || "/"}: expected ${JSON.stringify(expected)}, the oracle has ${JSON.stringify(actual)}`;
}

/** The places where two documents differ, each as deep as possible. */
export function changedPlaces(one, other, at = "") {
  if (Array.isArray(one) && Array.isArray(other)) {
    const length = Math.max(one.length, other.length);
    return Array.from({ length }, (_, index) => changedPlaces(one[index], other[index], `${at}/${index}`)).flat();
  }
  if (isObject(one) && isObject(other)) {
    const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...keys].flatMap((key) => changedPlaces(one[key], other[key], `${at}/${escaped(key)}`));
  }
  return JSON.stringify(one) === JSON.stringify(other) ? [] : [at];
}

const escaped = (key) => key.replaceAll("~", "~0").replaceAll("/", "~1");
