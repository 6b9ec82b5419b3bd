import {
  type Controls,
  type Limits,
  NO_CONTROLS,
  type Rate,
  type Rule,
  RuleBook,
  type ServiceControl,
} from "../../src/model/limits.ts";
import type { Subscription } from "../../src/model/kafka.ts";
import { printQueueId } from "../../src/model/queue.ts";
import type { Schema } from "../../src/model/schema.ts";
import { changedService } from "../support/controls.ts";
import type { Chance } from "./chance.ts";
import type { Limits as Tightness } from "./faults.ts";
import { simulatedSchema } from "./schema.ts";
import { SUBSCRIPTION } from "./topic.ts";
import type { World } from "./world.ts";

/** Scopes, and limit keys in them, of clients. Empty: none. */
export const SCOPES = ["a", "a", "a", "b"] as const;
export const LIMIT_KEYS = ["", "", "k", "k/1", "k/2", "j/1"] as const;

const PATTERNS = [
  "*",
  "a",
  "a",
  "a",
  "b",
  "*/*",
  "a/*",
  "a/k",
  "a/*/*",
  "*/k/*",
  "*/*/1",
  "a/k/2",
] as const;
const SERVICES = ["greeter", "counter", "ledger", "flow"] as const;
const HANDLERS = { greeter: "hi", counter: "add", ledger: "peek", flow: "ask" } as const;

/**
 * The limits, rates and pauses of a simulation, every value that they ever had. They change at once for
 * all servers; each hears of a change when it can hear anything.
 */
export class Controllers {
  /** Told after each change. */
  changed: () => void = () => {};
  readonly #schemas: Schema[];
  readonly #world: World;
  readonly #tight: Tightness;

  constructor(world: World, tight: Tightness) {
    this.#world = world;
    this.#tight = tight;
    this.#schemas = [this.#schemaOf(NO_CONTROLS)];
    if (!tight.isControlled) return;
    for (let n = world.chance.int(1, 6); n > 0; n--) this.#set(this.#changedAtRandom());
  }

  /** The number of the last change. */
  get version(): number {
    return this.#schemas.length - 1;
  }

  get schema(): Schema {
    return this.schemaAt(this.version);
  }

  schemaAt(version: number): Schema {
    return this.#schemas[version]!;
  }

  /** What held after a change. */
  at(version: number): Controls {
    return this.#schemas[version]!.controls;
  }

  /** Lets somebody change them now and then, until `untilMs`. */
  meddle(untilMs: number): void {
    const { chance } = this.#world;
    if (!this.#tight.isControlled) return;
    for (let n = chance.pick([0, 2, 6, 20]); n > 0; n--) {
      this.#world.after(chance.int(0, untilMs), () => this.#set(this.#changedAtRandom()));
    }
  }

  /** Lifts all pauses. Limits and rates stay. */
  calm(): void {
    const { services } = this.schema.controls;
    const running = [...services].map(([name, { paused: _, ...control }]) =>
      [name, control] as const
    );
    this.#set({
      ...this.schema.controls,
      services: new Map(running),
      pausedDeployments: new Set(),
      pausedQueues: new Set(),
    });
  }

  #set(controls: Controls): void {
    this.#schemas.push(this.#schemaOf(controls));
    this.#world.log(`controls ${this.version}: ${shown(controls)}`);
    this.changed();
  }

  #schemaOf(controls: Controls): Schema {
    const { eagerStateBytesMax, yieldThresholdMs } = this.#tight;
    const subscriptions = subscriptionsOf(this.#tight);
    return simulatedSchema({
      eagerStateBytesMax,
      yieldThresholdMs,
      controls: { ...controls, subscriptions },
    });
  }

  #changedAtRandom(): Controls {
    const { chance } = this.#world, { controls } = this.schema;
    return chance.pick<() => Controls>([
      () => withRule(chance, controls),
      () => withRule(chance, controls),
      () => withRule(chance, controls),
      () => withService(chance, controls, this.#world.mono),
      () => withPause(chance, controls),
    ])();
  }
}

/** What a thread knows of them: the first one stores a change, and the others hear of it later. */
export class HeardControls implements Pick<Controllers, "at" | "schema" | "version"> {
  version: number;
  readonly #all: Controllers;

  constructor(all: Controllers) {
    this.#all = all;
    this.version = all.version;
  }

  get schema(): Schema {
    return this.#all.schemaAt(this.version);
  }

  at(version: number): Controls {
    return this.#all.at(version);
  }
}

/** The one that records come by. */
function subscriptionsOf(
  { isFed, lettersAfter }: Tightness,
): ReadonlyMap<string, Subscription> {
  if (!isFed) return new Map();
  const limited = { "max.attempts": String(lettersAfter), "on.poison": "dead-letter:dead" };
  const options = { "group.id": "g", ...lettersAfter < Infinity && limited };
  const [source, sink] = ["kafka://simulated/t", "service://greeter/hi"];
  return new Map([[SUBSCRIPTION, { id: SUBSCRIPTION, source, sink, options, createdAt: 0 }]]);
}

function withService(chance: Chance, controls: Controls, now: number): Controls {
  const name = chance.pick(SERVICES), known = controls.services.get(name);
  const given: ServiceControl = {
    ...chance.happens(0.5) ? { limits: limitsOf(chance) } : {},
    ...chance.happens(0.5) ? { handlers: { [HANDLERS[name]]: limitsOf(chance) } } : {},
    ...!known?.paused && chance.happens(0.3) ? { paused: true } : {},
  };
  const control = changedService(known, given, now) ?? {};
  return { ...controls, services: new Map(controls.services).set(name, control) };
}

function withRule(chance: Chance, controls: Controls): Controls {
  const pattern = chance.pick(PATTERNS), { rules, version } = controls.rules;
  const others = rules.filter((rule) => rule.pattern !== pattern);
  const rule: Rule = {
    pattern,
    limits: chance.happens(0.1) ? {} : limitsOf(chance),
    disabled: chance.happens(0.15),
    version: 1,
    modifiedAt: 0,
  };
  const all = chance.happens(0.2) ? others : [...others, rule];
  return { ...controls, rules: new RuleBook(all, version + 1) };
}

function limitsOf(chance: Chance): Limits {
  const concurrency = chance.pick([1, 1, 1, 2, 3]);
  const kind = chance.pick(["concurrency", "concurrency", "rate", "both"]);
  if (kind === "concurrency") return { concurrency };
  const rate: Rate = {
    count: chance.int(1, 5),
    periodMs: chance.pick([100, 300, 1_000]),
    ...chance.happens(0.5) ? { burst: chance.int(1, 3) } : {},
  };
  return kind === "rate" ? { rate } : { concurrency, rate };
}

/** Pauses a deployment or a queue, or lifts that. */
function withPause(chance: Chance, controls: Controls): Controls {
  const toggled = (set: ReadonlySet<string>, one: string) =>
    new Set(set.has(one) ? [...set].filter((other) => other !== one) : [...set, one]);
  if (chance.happens(0.4)) {
    const pausedDeployments = toggled(controls.pausedDeployments, chance.pick(["dp_1", "dp_2"]));
    return { ...controls, pausedDeployments };
  }
  const queue = printQueueId({
    service: chance.pick(["greeter", "counter"]),
    scope: chance.happens(0.5) ? "a" : undefined,
    limitKey: undefined,
  });
  return { ...controls, pausedQueues: toggled(controls.pausedQueues, queue) };
}

function shown({ rules, services, pausedDeployments, pausedQueues }: Controls): string {
  return JSON.stringify({
    rules: rules.rules.map(({ pattern, limits, disabled }) => ({
      pattern,
      ...limits,
      ...disabled && { disabled },
    })),
    services: Object.fromEntries(services),
    pausedDeployments: [...pausedDeployments],
    pausedQueues: [...pausedQueues],
  });
}
