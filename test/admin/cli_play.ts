import { setTimeout as sleep } from "node:timers/promises";
import { startTarget, type Target, type TargetKind } from "../protocol/_target.ts";
import { Cli, type Said, words } from "./cli_run.ts";
import type { Call, Step } from "./cli_script.ts";
import { type ClientEndpoint, startClientEndpoint } from "./clients_endpoint.ts";

const REPEAT_MS = 5000;
/** A failed attempt is not made again while we look: a user looks at it as long as they like. */
const SETTINGS = {
  "default-retry-policy.initial-interval": "60s",
  "default-retry-policy.max-interval": "60s",
};

/** What a step said, and what it did not say. */
export interface Played {
  readonly line: string;
  readonly said: Said;
  readonly missing: readonly string[];
  readonly isLoose: boolean;
}

interface Stage {
  readonly target: Target;
  readonly endpoint: ClientEndpoint;
  readonly cli: Cli;
  /** What `$name` stands for. */
  readonly names: Map<string, string>;
}

/** Plays a whole script on a fresh server, with these settings and an endpoint of its own. */
export async function play(
  kind: TargetKind,
  program: string,
  { script, settings }: {
    readonly script: readonly Step[];
    readonly settings?: Readonly<Record<string, string>>;
  },
): Promise<Played[]> {
  const endpoint = await startClientEndpoint();
  const target = await startTarget({ ...SETTINGS, ...settings }, kind);
  const names = new Map([["endpoint", endpoint.url]]);
  const stage = { target, endpoint, cli: new Cli(program, target), names };
  const played: Played[] = [];
  try {
    for (const step of script) played.push(await playStep(stage, step));
  } finally {
    stage.cli.close();
    await target.close();
    await endpoint.close();
  }
  return played;
}

async function playStep(stage: Stage, step: Step): Promise<Played> {
  for (const [name, isBroken] of Object.entries(step.breaks ?? {})) {
    stage.endpoint.breaks(name, isBroken);
  }
  for (const call of step.first ?? []) await make(stage, call);
  const args = words(step.run).map((word) => fill(stage, word));
  const deadline = Date.now() + REPEAT_MS;
  for (;;) {
    const said = await stage.cli.run(args, step.editor);
    learn(stage, said.text);
    const missing = unsaid(stage, { step, said });
    // What changes things is done once; what looks at them looks until it sees.
    if (missing.length === 0 || step.run.startsWith("-y ") || Date.now() > deadline) {
      return { line: `restate ${step.run}`, said, missing, isLoose: step.isLoose ?? false };
    }
    await sleep(50);
  }
}

async function make({ target, names }: Stage, { path, input, headers, as }: Call): Promise<void> {
  const response = await fetch(`${target.ingress}/${target.word}/${path}`, {
    method: "POST",
    headers: { ...(input === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(input === undefined ? {} : { body: JSON.stringify(input) }),
  });
  await response.arrayBuffer();
  const id = response.headers.get(target.header("id"));
  if (as !== undefined && id !== null) names.set(as, id);
}

/**
 * The ids of the deployments, in the order in which they appeared, of the first virtual queue, and of the
 * subscription.
 */
function learn({ names }: Stage, text: string): void {
  const [queue] = /vq_1\w{33}/.exec(text) ?? [];
  if (queue !== undefined && !names.has("queue")) names.set("queue", queue);
  const known = [...names.values()];
  for (const [id] of text.matchAll(/(?<=Deployment ID: +)dp_1\w+/g)) {
    if (!known.includes(id)) names.set(names.has("deployment") ? "other" : "deployment", id);
  }
  const [subscription] = /sub_1[0-9A-Za-z]{22}/.exec(text) ?? [];
  if (subscription && !names.has("subscription")) names.set("subscription", subscription);
}

function fill({ names }: Stage, text: string): string {
  return text.replace(/\$(\w+)/g, (whole, name: string) => names.get(name) ?? whole);
}

interface Spoken {
  readonly step: Step;
  readonly said: Said;
}

function unsaid(stage: Stage, { step, said }: Spoken): string[] {
  const missing = (step.says ?? []).filter((wanted) =>
    typeof wanted === "string" ? !said.text.includes(fill(stage, wanted)) : !wanted.test(said.text)
  );
  const { code = 0 } = step;
  return [...(said.code === code ? [] : [`exit code ${code}`]), ...missing.map(String)];
}
