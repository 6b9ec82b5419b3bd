import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { until } from "../support/child.ts";

/** A side effect: `<id> <name> <value>`, a line of the endpoint's log. */
export interface Note {
  readonly name: string;
  readonly value: string;
}

/** The side effects of an endpoint by the id they were noted under, in order, read once each. */
export class Notes {
  readonly #file: string;
  readonly #byId = new Map<string, Note[]>();
  #offset = 0;
  #rest = "";

  constructor(file: string) {
    this.#file = file;
  }

  of(id: string): readonly Note[] {
    this.#read();
    return this.#byId.get(id) ?? [];
  }

  /** Waits for the first value noted under this id and name. */
  async value(id: string, name: string): Promise<string> {
    const find = () => this.of(id).find((note) => note.name === name)?.value;
    await until(`the note "${id} ${name}"`, () => find() !== undefined, 30_000);
    return find() ?? "";
  }

  #read(): void {
    if (!existsSync(this.#file)) return;
    const file = openSync(this.#file, "r");
    const bytes = new Uint8Array(fstatSync(file).size - this.#offset);
    this.#offset += readSync(file, bytes, 0, bytes.length, this.#offset);
    closeSync(file);
    const lines = (this.#rest + new TextDecoder().decode(bytes)).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#add(line);
  }

  #add(line: string): void {
    const [id = "", name = "", value = ""] = line.split(" ");
    const notes = this.#byId.get(id) ?? [];
    notes.push({ name, value });
    this.#byId.set(id, notes);
  }
}
