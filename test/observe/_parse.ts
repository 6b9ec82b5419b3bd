/** One metric of a page. */
export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** The family's name, or that with `_bucket`, `_sum` or `_count`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|$)/y;
const NUMBER = /^(?:[+-]?Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

/** Reads the Prometheus text format 0.0.4 and takes nothing that is only nearly right. */
export function parseMetrics(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("The last line must end with a line feed");
  const families = new Map<string, Family & { samples: Sample[] }>();
  const seen = new Set<string>();
  let name = "", help: string | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    const [, helped, words] = /^# HELP (\S+) (.+)$/s.exec(line) ?? [];
    const [, typed, type] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? [];
    if (helped !== undefined) [name, help] = [helped, words];
    else if (typed !== undefined) {
      if (typed !== name || help === undefined) throw new Error(`TYPE without its HELP: ${line}`);
      if (families.has(name) || !NAME.test(name)) throw new Error(`A second time: ${line}`);
      families.set(name, { type: type ?? "", help, samples: [] });
      help = undefined;
    } else {
      const sample = parseSample(line);
      const identity = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
      if (seen.has(identity)) throw new Error(`The same sample twice: ${line}`);
      seen.add(identity);
      const family = families.get(name);
      if (!family || !belongs(sample.name, name, family.type)) {
        throw new Error(`Not below its TYPE: ${line}`);
      }
      family.samples.push(sample);
    }
  }
  for (const [name, family] of families) check(name, family);
  return families;
}

function belongs(sample: string, family: string, type: string): boolean {
  if (type !== "histogram") return sample === family;
  return [`${family}_bucket`, `${family}_sum`, `${family}_count`].includes(sample);
}

function parseSample(line: string): Sample {
  const [, name, inner, value] = SAMPLE.exec(line) ?? [];
  if (name === undefined || value === undefined || !NUMBER.test(value)) {
    throw new Error(`Not a sample: ${line}`);
  }
  return {
    name,
    labels: parseLabels(inner ?? "", line),
    value: Number(value.replace("Inf", "Infinity")),
  };
}

function parseLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (LABEL.lastIndex = 0; LABEL.lastIndex < text.length;) {
    const [, name, value] = LABEL.exec(text) ?? [];
    if (name === undefined || value === undefined) throw new Error(`Not labels: ${line}`);
    if (Object.hasOwn(labels, name)) throw new Error(`A label twice: ${line}`);
    labels[name] = value.replaceAll(/\\(.)/g, (_, one) => one === "n" ? "\n" : one);
  }
  return labels;
}

/** House rules, and what a histogram must hold to be one. */
function check(name: string, { type, samples }: Family): void {
  if (!name.startsWith("perdure_")) throw new Error(`Not ours: ${name}`);
  if ((type === "counter") !== name.endsWith("_total")) throw new Error(`Misnamed: ${name}`);
  if (type !== "histogram") {
    if (type === "counter" && samples.some(({ value }) => !(value >= 0))) {
      throw new Error(`A counter below zero: ${name}`);
    }
    return;
  }
  const series = new Set(samples.map((one) => JSON.stringify(labelsOf(one))));
  for (const one of series) {
    checkHistogram(name, samples.filter((sample) => JSON.stringify(labelsOf(sample)) === one));
  }
}

/** What tells a histogram from others of its name. */
function labelsOf({ labels: { le: _, ...labels } }: Sample): object {
  return labels;
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const buckets = samples.filter((one) => one.name.endsWith("_bucket"));
  const bounds = buckets.map(({ labels }) => Number(labels["le"]?.replace("Inf", "Infinity")));
  if (bounds.at(-1) !== Infinity) throw new Error(`No last bucket: ${name}`);
  for (let i = 1; i < buckets.length; i++) {
    if (!((bounds[i] ?? 0) > (bounds[i - 1] ?? 0))) throw new Error(`Unsorted: ${name}`);
    if (!((buckets[i]?.value ?? 0) >= (buckets[i - 1]?.value ?? 0))) {
      throw new Error(`Falls: ${name}`);
    }
  }
  const count = samples.find((one) => one.name.endsWith("_count"))?.value;
  if (count !== buckets.at(-1)?.value) throw new Error(`Miscounted: ${name}`);
}

/** The one sample of a family with these labels, or undefined. */
export function valueOf(
  families: ReadonlyMap<string, Family>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  return families.get(name)?.samples.find((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  )?.value;
}
