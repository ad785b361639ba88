// What a tab keeps over a reload, and when the browser discards it in the background: what was
// entered, and answers that the host has not confirmed. Session storage belongs to one tab.
//
// A secret is never kept. Nothing is kept past a sign-out: every entry has the mark of its person.

import { personMark } from "./api.js";

function write(place, value) {
  try {
    sessionStorage.setItem(place, JSON.stringify({ person: personMark(), value }));
  } catch {
    // The storage is full. It is still in the page, which asks before it is closed.
  }
}

function read(place) {
  const kept = JSON.parse(sessionStorage.getItem(place) ?? "null");
  if (kept?.person === personMark()) return kept.value;
  sessionStorage.removeItem(place);
  return null;
}

export class Kept {
  constructor(session) {
    // An escaped name has no slash, so that no session finds the answers of another.
    const name = encodeURIComponent(session);
    this.draftPlace = `accord.draft/${name}`;
    this.answersPlace = `accord.answer/${name}/`;
  }

  // What `capture` of forms.js returns.
  keepDraft(entered) {
    const plain = [...entered].map(([action, values]) =>
      [action, values.filter((value) => !value.isSecret)]);
    write(this.draftPlace, plain);
  }

  draft() {
    const kept = read(this.draftPlace);
    return kept === null ? null : new Map(kept);
  }

  // Each answer has a place of its own. Two documents of one tab, of which one is only kept for
  // the way back, overwrite nothing of each other.
  keepAnswer(id, answer) {
    write(this.answersPlace + id, answer);
  }

  dropAnswer(id) {
    sessionStorage.removeItem(this.answersPlace + id);
  }

  // The answers that were not confirmed, oldest first.
  answers() {
    const answers = this.#places().map((place) => read(place)).filter((answer) => answer !== null);
    return answers.sort((one, other) => one.at - other.at || one.clientSeq - other.clientSeq);
  }

  dropAnswers() {
    for (const place of this.#places()) sessionStorage.removeItem(place);
  }

  clear() {
    sessionStorage.removeItem(this.draftPlace);
    this.dropAnswers();
  }

  #places() {
    return Object.keys(sessionStorage).filter((place) => place.startsWith(this.answersPlace));
  }
}
