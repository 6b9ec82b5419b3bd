import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

export const ROOT = path.resolve(import.meta.dirname, "../..");
const FOLDER = path.join(ROOT, ".github/workflows");

export interface WorkflowStep {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly "working-directory"?: string;
}

export interface Job {
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
  readonly steps?: readonly WorkflowStep[];
}

export interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** The workflows as they stand, by the name of their file. */
export function readWorkflows(): ReadonlyMap<string, Workflow> {
  // As for the compose file: a package of the tests brings it.
  const require = createRequire(import.meta.resolve("@seriousme/openapi-schema-validator"));
  const { parse } = require("yaml") as { parse: (text: string) => Workflow };
  const read = (name: string) => parse(readFileSync(path.join(FOLDER, name), "utf8"));
  return new Map(readdirSync(FOLDER).map((name) => [name, read(name)]));
}

/** All steps, with the name of the job. */
export function stepsOf(workflow: Workflow): readonly (WorkflowStep & { readonly job: string })[] {
  return Object.entries(workflow.jobs)
    .flatMap(([job, { steps = [] }]) => steps.map((step) => ({ ...step, job })));
}
