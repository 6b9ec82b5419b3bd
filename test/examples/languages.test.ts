import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { afterAll, afterEach, describe, test } from "vitest";
import { type Step, stepsOf } from "../docs/_page.ts";
import { absentTool, doAt } from "../docs/_run.ts";
import { openStage, type Stage } from "../docs/_stage.ts";
import { nodeWithTypes } from "../support/fetched_node.ts";

const EXAMPLES = path.resolve(import.meta.dirname, "../../docs/examples");
const { PYTHON_VENV, EXAMPLES_GO, EXAMPLES_JAVA } = process.env;
/** What Maven builds does not belong beside its sources. */
const built = mkdtempSync(path.join(tmpdir(), "examples-"));
afterAll(() => rmSync(built, { recursive: true, force: true }));

/** How the handlers in a language are served. As those of test/sdks, these tests are run by hand. */
const LANGUAGES = [
  // A virtual environment with test/sdks/python/requirements.txt.
  {
    language: "python",
    isTried: PYTHON_VENV !== undefined,
    command: `${PYTHON_VENV}/bin/hypercorn handlers:app --bind 127.0.0.1:9080`,
  },
  // Go 1.25. The first build takes a minute; what it has fetched and built is in the home of the user.
  {
    language: "go",
    isTried: EXAMPLES_GO !== undefined,
    command: `HOME=${homedir()} go run . 127.0.0.1:9080`,
  },
  // Java 17 and Maven, which keeps what it fetches in the home of the user.
  ...["java", "kotlin"].map((language) => ({
    language,
    isTried: EXAMPLES_JAVA !== undefined,
    command: `cp -r . ${built}/maven && cd ${built}/maven && mvn --quiet --batch-mode compile ` +
      `exec:java -Dexec.args=9080 -Duser.home=${homedir()}`,
  })),
];

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
  rmSync(path.join(built, "maven"), { recursive: true, force: true });
});

const shell = (text: string, more: Partial<Step> = {}) =>
  ({ kind: "shell", line: 0, how: "runs", text, ...more }) as Step;

describe.each(LANGUAGES)("an example in $language", ({ language, isTried, command }) => {
  describe.skipIf(!isTried)("does what its page says", () => {
    test.for(["greeter", "order-saga", "device", "agent"])(
      "%s",
      { timeout: 90_000 },
      async (name, { skip }) => {
        const page = `docs/examples/${name}/README.md`;
        // The first step starts the server and the endpoint in TypeScript.
        const [, ...steps] = stepsOf(readFileSync(path.join(EXAMPLES, name, "README.md"), "utf8"));
        const absent = absentTool(steps);
        skip(absent !== undefined, `this machine has no ${absent}`);
        const serve = `cd ${path.join(EXAMPLES, name, language)} && ${command}`;
        stage = await openStage({ node: await nodeWithTypes("the examples") ?? process.execPath });
        // What callers run is the same in every language.
        const others = readdirSync(path.join(EXAMPLES, name))
          .filter((file) => file.endsWith(".ts") && file !== "handlers.ts");
        for (const file of others) {
          const text = readFileSync(path.join(EXAMPLES, name, file), "utf8");
          await stage.do({ kind: "file", line: 0, path: file, text });
        }
        await stage.do({ kind: "server", line: 0 });
        await stage.do(shell(serve, { how: "background", ports: [9080] }));
        await stage.do(shell("npx perdure register http://127.0.0.1:9080"));
        for (const step of steps) await doAt(stage, step, page);
      },
    );
  });
});
