/** What a turn knows of the invocations of subscriptions that are not completed. */
export interface InboxView {
  /** How many more of a subscription the partition may have. */
  roomOf(subscription: string): number;
}

const BOUNDLESS: InboxView = { roomOf: () => Infinity };

/** The room for invocations of subscriptions, less what this turn has taken of it. */
export class InboxRoom {
  readonly #view: InboxView;
  #taken: Map<string, number> | undefined;

  /** Absent: there is no limit. */
  constructor(view: InboxView = BOUNDLESS) {
    this.#view = view;
  }

  /** At least 0. */
  of(subscription: string): number {
    return Math.max(0, this.#view.roomOf(subscription) - (this.#taken?.get(subscription) ?? 0));
  }

  take(subscription: string, count: number): void {
    this.#taken ??= new Map();
    this.#taken.set(subscription, (this.#taken.get(subscription) ?? 0) + count);
  }
}
