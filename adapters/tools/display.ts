import { printDuration } from "../../src/model/duration.ts";
import type { Done, Progress } from "../../src/storage/move/installation.ts";

/** The stream for progress: standard error. */
export interface Output {
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal. */
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** The size of the work, as far as it is known. The time left follows from bytes, else from rows. */
export interface Total {
  readonly rows?: number;
  readonly bytes?: number;
}

/** On a terminal, one line is rewritten this often at most. */
const TERMINAL_MS = 100;
/** Anywhere else, such as in a log, there is one more line this often. */
const PIPE_MS = 5_000;
const COLUMNS_DEFAULT = 80;
/** To the start of the line, and erase it (ECMA-48). */
const ERASE = "\r\x1b[2K";

/** The output of a tool that runs long: a line that is rewritten, and lines that stay. */
export class Display {
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly #tool: string;
  readonly #output: Output;
  /** Whether the last line is one that is rewritten. */
  #isOpen = false;

  constructor(tool: string, output: Output, now: () => number = () => performance.now()) {
    this.now = now;
    this.#tool = tool;
    this.#output = output;
  }

  get isTerminal(): boolean {
    return this.#output.isTTY === true;
  }

  /** Writes a line that stays. */
  say(text: string): void {
    this.clear();
    this.#output.write(`${this.#tool}: ${text}\n`);
  }

  /** Writes the line that the next one replaces; on anything but a terminal, one that stays. */
  show(text: string): void {
    if (!this.isTerminal) return this.say(text);
    const width = (this.#output.columns || COLUMNS_DEFAULT) - 1;
    this.#output.write(`${ERASE}${`${this.#tool}: ${text}`.slice(0, width)}`);
    this.#isOpen = true;
  }

  /** Erases that line, before something else is written to the terminal. */
  clear(): void {
    if (this.#isOpen) this.#output.write(ERASE);
    this.#isOpen = false;
  }

  /** Begins a piece of work. `doing`: such as "Copying". */
  begin(doing: string, total: Total = {}): Work {
    return new Work(this, doing, total);
  }
}

/** A piece of work and its progress. */
export class Work {
  readonly #display: Display;
  readonly #doing: string;
  readonly #total: Total;
  readonly #beganAt: number;
  #shownAt: number;
  #what = "";
  #rows = 0;
  #bytes = 0;

  constructor(display: Display, doing: string, total: Total) {
    this.#display = display;
    this.#doing = doing;
    this.#total = total;
    this.#beganAt = display.now();
    // A terminal shows at once what has begun; a log only what takes long.
    this.#shownAt = display.isTerminal ? -Infinity : this.#beganAt;
  }

  readonly progress: Progress = ({ what = this.#what, rows = 0, bytes = 0 }: Done) => {
    this.#what = what;
    this.#rows += rows;
    this.#bytes += bytes;
    const now = this.#display.now();
    if (now - this.#shownAt < (this.#display.isTerminal ? TERMINAL_MS : PIPE_MS)) return;
    this.#shownAt = now;
    const { rows: rowsTotal, bytes: bytesTotal } = this.#total;
    this.#display.show([
      `${this.#doing}${this.#what && ` ${this.#what}`}: ${
        of(count(this.#rows), rowsTotal, count)
      } rows`,
      of(size(this.#bytes), bytesTotal, size),
      this.#rate(now),
      ...this.#left(now),
    ].join(", "));
  };

  /** The work is done: writes a line with its size and duration. */
  end(): void {
    const now = this.#display.now();
    this.#display.say(
      `${this.#doing}: ${count(this.#rows)} rows, ${size(this.#bytes)} in ` +
        `${duration(now - this.#beganAt)}, ${this.#rate(now)}`,
    );
  }

  #rate(now: number): string {
    return `${count(this.#rows * 1000 / Math.max(1, now - this.#beganAt))} rows/s`;
  }

  /** The time left; empty while it is unknown. */
  #left(now: number): string[] {
    const { rows = 0, bytes } = this.#total;
    const [done, all] = bytes === undefined ? [this.#rows, rows] : [this.#bytes, bytes];
    if (done === 0 || all === 0) return [];
    const left = Math.max(0, all - done) * (now - this.#beganAt) / done;
    return [`${duration(Math.ceil(left / 1000) * 1000)} left`];
  }
}

function of(done: string, total: number | undefined, print: (value: number) => string): string {
  return total === undefined ? done : `${done} of ${print(total)}`;
}

/** `12,345` */
function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

const UNITS = ["KiB", "MiB", "GiB", "TiB"] as const;

/** `12 B`, `34.5 MiB` */
function size(bytes: number): string {
  let [value, unit]: [number, string] = [bytes, "B"];
  for (const next of UNITS) {
    if (value < 1024) break;
    [value, unit] = [value / 1024, next];
  }
  return `${unit === "B" ? value : value.toFixed(1)} ${unit}`;
}

/** In whole seconds, or in milliseconds below one second. */
function duration(ms: number): string {
  const whole = ms < 1000 ? Math.round(ms) : Math.round(ms / 1000) * 1000;
  return printDuration(whole);
}
