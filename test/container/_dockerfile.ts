import { assert } from "../../src/assert.ts";

/** An instruction: `COPY --from=build a b` is `COPY`, `{ from: "build" }` and `a b`. */
export interface Step {
  readonly verb: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly rest: string;
}

/** From one `FROM` to the next. */
export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly steps: readonly Step[];
}

/** What these tests know how to do. Anything else in a Dockerfile is refused, so never passed over. */
const VERBS = [
  "WORKDIR",
  "COPY",
  "RUN",
  "ENV",
  "USER",
  "VOLUME",
  "EXPOSE",
  "HEALTHCHECK",
  "ENTRYPOINT",
];

/** Reads a Dockerfile of those instructions, with `ARG`s before the first `FROM` only. */
export function parseDockerfile(text: string): readonly Stage[] {
  const args: Record<string, string> = {};
  const stages: { name: string; base: string; steps: Step[] }[] = [];
  for (const line of instructions(text)) {
    const step = stepOf(line);
    const stage = stages.at(-1);
    if (step.verb === "FROM") {
      const base = step.rest.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => args[name] ?? "");
      const [image = "", , name = String(stages.length)] = base.split(/\s+/);
      stages.push({ name, base: image, steps: [] });
    } else if (step.verb === "ARG" && !stage) {
      const [name = "", value = ""] = step.rest.split("=");
      args[name] = value;
    } else {
      assert(stage && VERBS.includes(step.verb), `Nobody here knows how to do "${line}"`);
      stage.steps.push(step);
    }
  }
  return stages;
}

/** Logical lines: without comments, and with what a backslash continues. */
function instructions(text: string): readonly string[] {
  const lines = text.split("\n").filter((line) => !/^\s*(#|$)/.test(line));
  return lines.join("\n").replaceAll(/\\\n\s*/g, "").split("\n");
}

function stepOf(line: string): Step {
  const [, verb = "", flagged = "", rest = ""] = /^(\w+)\s+((?:--\S+\s+)*)(.*)$/.exec(line) ?? [];
  const flags = [...flagged.matchAll(/--([\w-]+)=(\S+)/g)].map(([, name, value]) => [name, value]);
  return { verb, flags: Object.fromEntries(flags), rest };
}

/** Whether a path from the top is sent to the builder: the last pattern that fits decides. */
export function isSent(dockerignore: string, path: string): boolean {
  let isKept = true;
  for (const line of dockerignore.split("\n")) {
    if (/^\s*(#|$)/.test(line)) continue;
    const pattern = line.replace(/^!/, "").replace(/^\/|\/$/g, "");
    const source = pattern.replaceAll(/[.+^$()|[\]{}]/g, "\\$&").replaceAll("*", "[^/]*");
    assert(!/\*\*|\?/.test(pattern), `Nobody here knows what "${line}" fits`);
    // What fits a folder fits all that is below it.
    if (new RegExp(`^${source}(/.*)?$`).test(path)) isKept = line.startsWith("!");
  }
  return isKept;
}
