import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { options } from "../../src/config.ts";
import { sidecarOptions } from "../../src/config/sidecar_options.ts";
import { errors } from "../../src/error_codes.ts";
import { tables } from "../../src/introspection/tables/catalog.ts";
import { METRICS } from "../../src/observe/metric_table.ts";

const FOLDER = path.resolve(import.meta.dirname, "../../docs");
const pages = readdirSync(FOLDER).filter((name) => name.endsWith(".md"));

const settings = Object.keys(options);
/** Settings that only a Worker has (`adapters/workerd/settings.ts`). */
const WORKER_SETTINGS = ["admin.path-prefix"];
const AREAS = new Set(settings.filter((key) => key.includes(".")).map((key) => key.split(".")[0]));
/** Headers of Kafka records that look like settings. */
const RECORD_HEADERS = ["offset", "topic", "partition", "timestamp", "key"].map((one) =>
  `kafka.${one}`
);
/** Variables that stand for something else than a setting. */
const OTHER_VARIABLES = ["SVC_CONFIG"];
const HISTOGRAM_SAMPLE = /_(bucket|sum|count)$/;

const variableOf = (key: string) =>
  `SVC_${key.replaceAll(".", "__").replaceAll("-", "_").toUpperCase()}`;
const known: ReadonlySet<string> = new Set([
  ...Object.keys(METRICS),
  ...[...settings, ...WORKER_SETTINGS, ...Object.keys(sidecarOptions)].flatMap((
    key,
  ) => [key, variableOf(key)]),
  ...OTHER_VARIABLES,
  ...RECORD_HEADERS,
  ...Object.keys(errors),
  ...tables.keys(),
]);

/** What a page names: settings, variables, metrics, error codes and tables, as far as they have a form. */
function namesIn(text: string): string[] {
  const named = text.match(
    /\bperdure_[a-z0-9_]+|\bSVC_[A-Z_]+|\b(?:RT|META)\d{4}\b|\bsys_[a-z_]+/g,
  );
  const quoted = [...text.matchAll(/`([a-z]+(?:\.[a-z-]+)+)[ `]/g)].map(([, name = ""]) => name)
    .filter((name) => AREAS.has(name.split(".")[0]));
  return [...new Set([...named ?? [], ...quoted])];
}

describe("what pages name exists:", () => {
  test.each(pages)("%s", (page) => {
    const names = namesIn(readFileSync(path.join(FOLDER, page), "utf8"));
    const unknown = names.filter((name) => !known.has(name.replace(HISTOGRAM_SAMPLE, "")));
    expect(unknown).toEqual([]);
  });
});
