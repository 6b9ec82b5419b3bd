import type { Failure } from "../../errors.ts";
import { tooLarge, tooManyRows } from "../refusal.ts";
import type { AnswerColumn, Format, Row } from "../render/format.ts";
import type { QueryLimits } from "../request.ts";

/** An answer as it grows, in memory. */
export class BufferedAnswer {
  readonly #format: Format;
  readonly #limits: Pick<QueryLimits, "rowsMax" | "spoolBytesMax">;
  readonly #parts: Uint8Array[] = [];
  #rows = 0;
  #bytes = 0;

  constructor(
    columns: readonly AnswerColumn[],
    format: Format,
    limits: Pick<QueryLimits, "rowsMax" | "spoolBytesMax">,
  ) {
    this.#format = format;
    this.#limits = limits;
    this.#keep(format.begin(columns));
  }

  /** Throws a `Failure` when the answer has become too long or too large. */
  add(rows: readonly Row[]): void {
    this.#rows += rows.length;
    if (this.#rows > this.#limits.rowsMax) throw tooManyRows(this.#limits.rowsMax);
    this.#keep(this.#format.page(rows));
    if (this.#bytes > this.#limits.spoolBytesMax) throw this.#tooLarge();
  }

  /** All of it, in parts. */
  end(): readonly Uint8Array[] {
    this.#keep(this.#format.end());
    return this.#parts;
  }

  #keep(part: Uint8Array): void {
    this.#bytes += part.length;
    this.#parts.push(part);
  }

  #tooLarge(): Failure {
    return tooLarge("its result", this.#limits.spoolBytesMax);
  }
}
