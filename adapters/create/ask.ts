import { createInterface, type Interface } from "node:readline/promises";
import { nearest } from "../../src/nearest.ts";
import { CommandFailure } from "../cli/failure.ts";

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Asks questions on a terminal, one after the other. */
export class Questions {
  readonly #lines: Interface;
  readonly #output: NodeJS.WritableStream;
  readonly #ended: Promise<never>;
  #isClosed = false;

  constructor({ input, output }: Terminal) {
    this.#lines = createInterface({ input, output });
    this.#output = output;
    this.#ended = new Promise((_, reject) => {
      this.#lines.once("close", () => {
        this.#isClosed = true;
        reject(
          new CommandFailure(
            "failed",
            "Cannot go on: the questions were left. Nothing was written",
          ),
        );
      });
    });
    // Nobody may be asking when it is closed.
    this.#ended.catch(() => {});
  }

  /** A line of text. Empty: `usual`. Rejects with `CommandFailure` when the input ends. */
  async text(question: string, usual: string): Promise<string> {
    if (this.#isClosed) return await this.#ended;
    const asked = this.#lines.question(`${question} (${usual}): `);
    // When the input has ended, readline leaves a question without an answer.
    return (await Promise.race([asked, this.#ended])).trim() || usual;
  }

  /** One of these, by its number or its name. Empty: the first. Asks again until it is one. */
  async choice(question: string, among: Readonly<Record<string, string>>): Promise<string> {
    const names = Object.keys(among);
    const width = Math.max(...names.map(({ length }) => length)) + 2;
    const rows = names.map((name, at) => `  ${at + 1}  ${name.padEnd(width)}${among[name]}\n`);
    this.#output.write(`${question}\n${rows.join("")}`);
    for (;;) {
      const answer = await this.text("Number or name", names[0] ?? "");
      const chosen = names[Number(answer) - 1] ??
        names.find((name) => name === answer.toLowerCase());
      if (chosen !== undefined) return chosen;
      const [meant] = /^\d+$/.test(answer) ? [] : nearest(answer, names);
      const hint = meant === undefined ? `a number up to ${names.length}` : `"${meant}"`;
      this.#output.write(`There is no "${answer}": say ${hint}\n`);
    }
  }

  close(): void {
    this.#lines.close();
  }
}
