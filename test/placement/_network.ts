import { fetchReader } from "../../src/ingress/request_reader.ts";
import { partitionEndpoint } from "../../src/placement/partition_endpoint.ts";
import { NotSent, type Post } from "../../src/placement/partition_client.ts";
import { probe } from "../../src/placement/identity_probe.ts";
import type { Stopwatch } from "../../src/ports.ts";

export const SECRET = "a-secret-of-a-test";

/** A process that listens at an address. */
export interface Listening {
  readonly instance: string;
  readonly node: string;
  readonly secret?: string;
  /** Addresses that it does not reach. */
  readonly blindTo?: readonly string[];
}

/** Addresses, what listens there, and a way to post to them. */
export class Network {
  readonly at = new Map<string, Listening>();
  readonly #stopwatch: Stopwatch;

  constructor(stopwatch: Stopwatch) {
    this.#stopwatch = stopwatch;
  }

  /** The line of a process with this secret. */
  line(secret = SECRET, blindTo: readonly string[] = []) {
    const post: Post = async (url, request) => {
      const { origin } = new URL(url);
      const there = this.at.get(origin);
      if (!there || blindTo.includes(origin)) throw new NotSent("connect ECONNREFUSED");
      const { method, headers, body } = request;
      return await this.#endpoint(there)(new Request(url, { method, headers, body }));
    };
    return { post, secret, stopwatch: this.#stopwatch };
  }

  #endpoint({ instance, node, secret = SECRET, blindTo }: Listening) {
    return partitionEndpoint({
      secret,
      partitionClient: () => undefined,
      owner: () => undefined,
      refresh: () => {},
      reload: () => Promise.resolve(),
      who: () => ({ instance, node }),
      reach: (address) => probe(address, this.line(secret, blindTo)),
      reader: fetchReader,
      bytesMax: 1024,
      log: () => {},
    });
  }
}
