import { afterEach, describe, expect, test } from "vitest";
import { matches } from "./_match.ts";
import { stepsOf } from "./_page.ts";
import { openStage, type Stage } from "./_stage.ts";

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

/** A page of these lines. `~` stands for the three characters of a fence. */
const page = (...lines: string[]) => lines.join("\n").replaceAll("~", "```");

/** Does what a page says. */
async function done(...lines: string[]): Promise<void> {
  stage = await openStage();
  for (const step of stepsOf(page(...lines))) await stage.do(step);
}

describe("a page", () => {
  test("has commands with their output, named files, and a picture that is no step", () => {
    const steps = stepsOf(
      page(
        "~",
        "a -> b",
        "~",
        "",
        "~js",
        "// a.mjs",
        "run();",
        "~",
        "~sh",
        "node a.mjs",
        "~",
        "",
        "~json",
        "1",
        "~",
      ),
    );
    expect(steps).toEqual([
      { kind: "file", line: 5, path: "a.mjs", text: "// a.mjs\nrun();\n" },
      { kind: "shell", line: 9, text: "node a.mjs\n", how: "runs", expected: "1\n" },
    ]);
  });

  test("waits for what a command in the background prints", async () => {
    await done(
      `<!-- run: background until "ready" -->`,
      ...["~sh", "echo rea; sleep 0.3; touch made; echo ready; sleep 60", "~"],
      ...["~sh", "ls", "~", "~text", "…made…", "~"],
    );
  });

  test("notices a command in the background that ends before it has printed that", async () => {
    const ended = done(`<!-- run: background until "ready" -->`, "~sh", "echo no", "~");
    await expect(ended).rejects.toThrow("It ended");
  });

  test("may have servers beside its commands", () => {
    const steps = stepsOf(page("<!-- run: sqld -->", "text", "<!-- run: workerd -->"));
    expect(steps).toEqual([{ kind: "sqld", line: 1 }, { kind: "workerd", line: 3 }]);
    expect(() => stepsOf("<!-- run: mysqld -->")).toThrow("no directive");
  });

  test("says by a comment what runs otherwise, and why a block does not run", () => {
    const steps = stepsOf(page(
      "<!-- run: server -->",
      "<!-- run: background until 9080 listens -->",
      "~sh",
      "serve",
      "~",
      "<!-- run: fails -->",
      "~sh",
      "false",
      "~",
      "<!-- run: skip: needs an account -->",
      "~sh",
      "deploy",
      "~",
      "~text",
      "deployed",
      "~",
    ));
    expect(steps).toMatchObject([
      { kind: "server", line: 1 },
      { kind: "shell", how: "background", ports: [9080] },
      { kind: "shell", how: "fails" },
      { kind: "skip", reason: "needs an account" },
    ]);
  });

  test("is refused with a block that would pass unseen, or a directive that is none", () => {
    expect(() => stepsOf(page("~js", "run();", "~"))).toThrow("Line 1: a block of js is not run");
    expect(() => stepsOf(page("Some", "", "~json", "1", "~"))).toThrow("Line 3");
    expect(() => stepsOf(page("~sh", "a", "~", "then", "~json", "1", "~"))).toThrow("Line 5");
    expect(() => stepsOf("<!-- run: skip -->")).toThrow('Line 1: there is no directive "skip"');
    expect(() => stepsOf(page("<!-- run: fails -->", "text"))).toThrow("Line 2");
    expect(() => stepsOf(page("~sh", "a"))).toThrow("Line 1: the block has no end");
  });
});

describe("a command", () => {
  test("keeps folder and variables for the next one, beside the files of the page", async () => {
    await done(
      ...["~sh", "mkdir deep && cd deep", "name=Ada", "~"],
      ...["~js", "// a.mjs", "console.log(`Hello ${process.env.name}`);", "~"],
      ...["~sh", "node a.mjs", "~", "~text", "Hello Ada", "~"],
    );
  });

  test("that fails, succeeds against the page, or prints something else is told", async () => {
    await expect(done("~sh", "echo why >&2; false; true", "~")).rejects.toThrow("why");
    await stage?.close();
    await expect(done("<!-- run: fails -->", "~sh", "true", "~")).rejects.toThrow("ended with 0");
    await stage?.close();
    await expect(done("~sh", "echo one", "~", "~text", "two", "~")).rejects
      .toThrow("where the page says\ntwo");
  });

  test("is repeated until it prints what the page says, if the page asks for that", async () => {
    await done(
      ...["<!-- run: retry -->", "~sh", "echo x >> log; wc -l < log", "~", "~text", "3", "~"],
    );
  });

  test("in the background reaches its port, which is a free one", async () => {
    const script =
      'import http from "node:http"; http.createServer((_, to) => to.end("hi")).listen(9080);';
    await done(
      ...["~js", "// a.mjs", script, "~"],
      ...["<!-- run: background until 9080 listens -->", "~sh", "node a.mjs", "~"],
      ...["~sh", "curl -s localhost:9080", "~", "~text", "hi", "~"],
    );
  });
});

describe("an output", () => {
  test("in JSON is compared by value, other text by words", () => {
    expect(matches('{"b":1,"a":[1,2]}', '{ "a": [1, 2], "b": 1 }')).toBe(true);
    expect(matches('{"b":1}', '{ "b": 2 }')).toBe(false);
    expect(matches('{"b":1,"c":1}', '{ "b": 1 }')).toBe(false);
    expect(matches("a   b\n", "a b")).toBe(true);
    expect(matches("a b c", "a b")).toBe(false);
  });

  test("may differ where the page has an ellipsis", () => {
    expect(matches('{"id":"inv_1abc","at":5}', '{"id":"inv_…","at":"…"}')).toBe(true);
    expect(matches('{"id":"dp_1abc"}', '{"id":"inv_…"}')).toBe(false);
    expect(matches('{"a":1,"b":2}', '{"a":1,"…":"…"}')).toBe(true);
    expect(matches("[1,2,3]", '[1,"…"]')).toBe(true);
    expect(matches("[2,3]", '[1,"…"]')).toBe(false);
    expect(matches("HTTP/1.1 409 Conflict\nx: y\n\nbody", "HTTP/1.1 409 … body")).toBe(true);
    expect(matches("(5 ms)", "(… ms)")).toBe(true);
  });
});
