import type { Histogram } from "./histogram.ts";

export type Labels = Readonly<Record<string, string>>;

/** Media type of the Prometheus text format. */
export const EXPOSITION_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Writes metrics as text (Prometheus exposition format 0.0.4). Names are ours, so they are right. */
export class Exposition {
  readonly #lines: string[] = [];
  #name = "";

  /** Begins a metric. Its samples follow, together. `help`: one sentence. */
  family(name: string, type: "counter" | "gauge" | "histogram", help: string): this {
    this.#name = name;
    const text = help.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
    this.#lines.push(`# HELP ${name} ${text}`, `# TYPE ${name} ${type}`);
    return this;
  }

  sample(value: number, labels: Labels = {}): this {
    this.#lines.push(`${this.#name}${print(labels)} ${number(value)}`);
    return this;
  }

  histogram({ bounds, counts, sum }: Histogram): this {
    let total = 0;
    for (const [i, count] of counts.entries()) {
      total += count;
      const le = number(bounds[i] ?? Infinity);
      this.#lines.push(`${this.#name}_bucket${print({ le })} ${total}`);
    }
    this.#lines.push(`${this.#name}_sum ${number(sum)}`, `${this.#name}_count ${total}`);
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

function number(value: number): string {
  if (value === Infinity) return "+Inf";
  return value === -Infinity ? "-Inf" : String(value);
}
