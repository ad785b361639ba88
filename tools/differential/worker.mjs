// A process that answers one line for each line.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const LIMIT_MS = 60_000;

export class Worker {
  #command;
  #child = null;
  #answers = null;

  constructor(command) {
    this.#command = command;
  }

  #start() {
    const [program, ...words] = this.#command;
    this.#child = spawn(program, words, { stdio: ['pipe', 'pipe', 'ignore'] });
    // A child that ends breaks the pipe; the missing answer tells it.
    this.#child.stdin.on('error', () => {});
    this.#child.on('error', () => {});
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** The answer to a document; `timeout` or `gone` if there is none. A new process goes on. */
  async ask(document) {
    if (!this.#child) this.#start();
    this.#child.stdin.write(`${JSON.stringify(document)}\n`);
    let timer;
    const late = new Promise((resolve) => {
      timer = setTimeout(() => resolve('late'), LIMIT_MS);
    });
    const answer = await Promise.race([this.#answers.next(), late]);
    clearTimeout(timer);
    if (answer === 'late' || answer.done) {
      this.end();
      return { status: answer === 'late' ? 'timeout' : 'gone', actual: null };
    }
    try {
      return JSON.parse(answer.value);
    } catch {
      return { status: 'no JSON', actual: null };
    }
  }

  end() {
    this.#child?.kill('SIGKILL');
    this.#child = null;
  }
}
