// What is wrong with a value, for people. A violation of the server names the keyword of JSON
// Schema that decided, and what it expected.

export const REQUIRED = "Fill in this field.";

const FORMATS = {
  date: "Enter a date.",
  "date-time": "Enter a date and a time.",
  "iso-date-time": "Enter a date and a time.",
  time: "Enter a time with its offset, such as 14:30:00Z.",
  "iso-time": "Enter a time, such as 14:30:00.",
  duration: "Enter a duration, such as PT15M.",
  email: "Enter an email address.",
  uri: "Enter a URL, such as https://example.org/.",
  url: "Enter a URL, such as https://example.org/.",
  uuid: "Enter a UUID.",
  ipv4: "Enter an IPv4 address.",
  ipv6: "Enter an IPv6 address.",
  hostname: "Enter a host name.",
};

const TYPES = { integer: "Enter a whole number.", number: "Enter a number." };

const own = (words, name) => (Object.hasOwn(words, name) ? words[name] : undefined);

const WORDS = {
  required: () => REQUIRED,
  type: (expected) => own(TYPES, expected),
  enum: () => "Choose one of the values.",
  format: (expected) => own(FORMATS, expected.replace(/^of format /, "")),
  pattern: () => "This does not have the form that is asked for.",
  minimum: (expected) => `Enter ${expected}.`,
  maximum: (expected) => `Enter ${expected}.`,
  exclusiveMinimum: (expected) => `Enter ${expected}.`,
  exclusiveMaximum: (expected) => `Enter ${expected}.`,
  multipleOf: (expected) => `Enter ${expected}.`,
  minLength: (expected) => `Enter ${expected}.`,
  maxLength: (expected) => `Enter ${expected}.`,
  minItems: (expected) => `Enter ${expected.replace("items", "entries")}.`,
  maxItems: (expected) => `Enter ${expected.replace("items", "entries")}.`,
  uniqueItems: () => "Enter no entry twice.",
};

// The message of a violation; that of the server, if there is no better one.
export function messageOf({ keyword, expected, message }) {
  return own(WORDS, keyword)?.(expected ?? "") ?? message;
}
