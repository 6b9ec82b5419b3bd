import { type KafkaRecord, type Mapped, mapperOf } from "../../src/kafka/mapping.ts";
import { deadLetterTopicOf, type PlannedSubscription } from "../../src/model/kafka.ts";

/** What becomes of records, as the plan has it now: it may change while they are consumed. */
export interface RulesOptions {
  readonly planned: PlannedSubscription;
  readonly isScopeRead: boolean;
}

/** What `on.poison` says. */
export type PoisonRule =
  | { readonly kind: "block" }
  | { readonly kind: "skip" }
  | { readonly kind: "dead-letter"; readonly topic: string };

/** The options of a subscription that change without a new consumer. */
export class Rules {
  #options: RulesOptions;
  #map: (record: KafkaRecord) => Mapped;

  constructor(options: RulesOptions) {
    this.#options = options;
    this.#map = mapperOf(options.planned, options);
  }

  update(options: RulesOptions): void {
    this.#options = options;
    this.#map = mapperOf(options.planned, options);
  }

  readonly map = (record: KafkaRecord): Mapped => this.#map(record);

  /** Whether an operator has asked to pass over a record. */
  readonly isSkipped = (topic: string, partition: number, offset: number): boolean =>
    this.#options.planned.skips?.some((one) =>
      one.offset === offset && one.partition === partition && one.topic === topic
    ) ?? false;

  get onPoison(): PoisonRule {
    const { options } = this.#options.planned;
    const topic = deadLetterTopicOf(options);
    if (topic !== undefined) return { kind: "dead-letter", topic };
    return { kind: options["on.poison"] === "skip" ? "skip" : "block" };
  }
}
