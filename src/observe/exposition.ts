import type { Histogram } from "./histogram.ts";

export type Labels = Readonly<Record<string, string>>;

/** Media type of the Prometheus text format. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The description of a metric, before its samples. */
export interface Metric {
  readonly type: "counter" | "gauge" | "histogram";
  /** Names of the labels that its samples have; `le` of a histogram is not listed. */
  readonly labels: readonly string[];
  /** One sentence. */
  readonly help: string;
}

/** Writes metrics as text (Prometheus exposition format 0.0.4). Names are ours and not escaped. */
export class Exposition<Name extends string> {
  readonly #metrics: Readonly<Record<Name, Metric>>;
  readonly #lines: string[] = [];
  #name = "";

  /** `metrics`: the metrics that the page may have. */
  constructor(metrics: Readonly<Record<Name, Metric>>) {
    this.#metrics = metrics;
  }

  /** Begins a metric. Its samples follow, together. */
  family(name: Name): this {
    const { type, help } = this.#metrics[name];
    this.#name = name;
    const text = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
    this.#lines.push(`# HELP ${name} ${text}`, `# TYPE ${name} ${type}`);
    return this;
  }

  sample(value: number, labels: Labels = {}): this {
    this.#lines.push(`${this.#name}${print(labels)} ${printNumber(value)}`);
    return this;
  }

  histogram({ bounds, counts, sum }: Omit<Histogram, "add">, labels: Labels = {}): this {
    let total = 0;
    for (const [i, count] of counts.entries()) {
      total += count;
      const le = printNumber(bounds[i] ?? Infinity);
      this.#lines.push(`${this.#name}_bucket${print({ ...labels, le })} ${total}`);
    }
    const own = print(labels);
    this.#lines.push(
      `${this.#name}_sum${own} ${printNumber(sum)}`,
      `${this.#name}_count${own} ${total}`,
    );
    return this;
  }

  toString(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}

function print(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** A value as Prometheus writes it. */
export function printNumber(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}
