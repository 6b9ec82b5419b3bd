import { AttemptPace } from "./attempt_pace.ts";

/**
 * How many addresses are remembered, with wrong tokens and with valid ones each. Beyond it the one that was
 * used least recently is forgotten: its pace begins anew, and the one of all addresses still holds.
 */
const ADDRESSES_MAX = 10_000;

/** Wrong tokens that are checked in a second. */
export interface WrongTokens {
  readonly perAddress: number;
  /** Of all addresses that have shown no valid token. */
  readonly total: number;
}

/**
 * The paces of wrong tokens: one for each address, so that a flood from one closes no other, and one behind
 * them, for floods from many. An address that has shown a valid token is not closed by those of others. An
 * address is any text; clients whose address is not known share the empty one.
 */
export class AddressPaces {
  readonly #perAddress: number;
  readonly #now: () => number;
  readonly #total: AttemptPace;
  /** Of addresses that have sent wrong tokens, the one that was used last at the end. */
  readonly #paces = new Map<string, AttemptPace>();
  /** Addresses that have shown a valid token, in the same order. */
  readonly #valid = new Map<string, true>();

  /** `now`: milliseconds since the epoch. */
  constructor({ perAddress, total }: WrongTokens, now: () => number) {
    this.#perAddress = perAddress;
    this.#now = now;
    this.#total = new AttemptPace(total, now);
  }

  /** What keeps a token of an address from being checked now. Undefined: nothing. */
  closed(address: string): "this address" | "all addresses" | undefined {
    if (this.#paces.get(address)?.isOpen === false) return "this address";
    return this.#valid.has(address) || this.#total.isOpen ? undefined : "all addresses";
  }

  /** A token from this address was wrong. */
  spend(address: string): void {
    const pace = this.#paces.get(address) ?? new AttemptPace(this.#perAddress, this.#now);
    pace.spend();
    use(this.#paces, address, pace);
    if (!this.#valid.has(address)) this.#total.spend();
  }

  /** A token from this address was valid. */
  trust(address: string): void {
    use(this.#valid, address, true);
  }
}

/** Puts an entry at the end of those that are remembered. */
function use<T>(remembered: Map<string, T>, address: string, value: T): void {
  remembered.delete(address);
  if (remembered.size >= ADDRESSES_MAX) {
    const [oldest] = remembered.keys();
    remembered.delete(oldest!);
  }
  remembered.set(address, value);
}
