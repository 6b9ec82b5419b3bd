import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, test } from "vitest";
import { stepsOf } from "../docs/_page.ts";
import { absentTool, doAt } from "../docs/_run.ts";
import { openStage, type Stage } from "../docs/_stage.ts";
import { brokerTools } from "../kafka/broker/broker.ts";
import { nodeWithTypes } from "../support/fetched_node.ts";

const EXAMPLES = path.resolve(import.meta.dirname, "../../docs/examples");
const EXAMPLE_MS = 120_000;

const examples = readdirSync(EXAMPLES)
  .filter((name) => statSync(path.join(EXAMPLES, name)).isDirectory());
const node = await nodeWithTypes("the examples");

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

describe.skipIf(node === undefined)("an example does what its README says", () => {
  test.for(examples)("%s", { timeout: EXAMPLE_MS }, async (name, { skip }) => {
    const read = (file: string) => readFileSync(path.join(EXAMPLES, name, file), "utf8");
    const page = `docs/examples/${name}/README.md`;
    const steps = stepsOf(read("README.md"));
    const absent = absentTool(steps);
    skip(absent !== undefined, `this machine has no ${absent}`);
    if (steps.some(({ kind }) => kind === "kafka")) skip(!await brokerTools(), "no broker");
    const opened = stage = await openStage({ node: node! });
    for (const file of readdirSync(path.join(EXAMPLES, name)).filter(isSource)) {
      await opened.do({ kind: "file", line: 0, path: file, text: read(file) });
    }
    const packages = "npm install @restatedev/restate-sdk kafkajs && npm init";
    await opened.do({ kind: "shell", line: 0, how: "runs", text: packages });
    for (const step of steps) await doAt(opened, step, page);
  });
});

const isSource = (file: string) => /\.(ts|toml)$/.test(file);
