import type { Sabotage } from "./sabotage.ts";

/** Nothing else is lost on the way, and starts take long. */
const STARTS = { crash: 0.006, loadMs: 300, readLost: 0 } as const;

/** Broken ways between the threads of a process. */
export const SABOTAGES_THREADS: readonly Sabotage[] = [
  {
    name: "a partition is looked for in the next thread",
    file: "placement/thread_peers.ts",
    find: "threadOf(partition, this.#rpcs.size + 1)",
    replace: "threadOf(partition + 1, this.#rpcs.size + 1)",
  },
  {
    name: "a thread that starts forgets who asks it",
    file: "placement/thread_peers.ts",
    find: 'throw new Untaken("the thread of the partition is starting");',
    replace: "return await new Promise(() => {});",
    under: STARTS,
  },
  {
    name: "a thread that starts says that it has done it",
    file: "placement/thread_peers.ts",
    find: 'throw new Untaken("the thread of the partition is starting");',
    replace: "return args[0];",
    under: STARTS,
  },
  {
    name: "a refusal of another thread is an answer",
    file: "placement/port_rpc.ts",
    find: "if (failure) waiter?.reject(decodeFailure(failure));",
    replace: "if (failure) waiter?.resolve(decodeFailure(failure));",
  },
  {
    name: "requests of one message are taken from the last to the first",
    file: "placement/port_rpc.ts",
    find: "of this.#decoder.decode(message) as readonly Packet[])",
    replace: "of (this.#decoder.decode(message) as Packet[]).reverse())",
    under: { crash: 0, freezes: 0 },
  },
  {
    name: "only the first request of a burst is sent",
    file: "placement/port_rpc.ts",
    find: "const message = this.#encoder.encode(this.#packets);",
    replace: "const message = this.#encoder.encode(this.#packets.slice(0, 1));",
  },
  {
    name: "an answer goes to who asked before",
    file: "placement/port_rpc.ts",
    find: "this.#say({ answer: id, value });",
    replace: "this.#say({ answer: Math.max(1, id - 1), value });",
  },
  {
    name: "a message is sent again with the next one",
    file: "placement/port_rpc.ts",
    find: "    this.#packets = [];\n    this.#options.port",
    replace: "    this.#packets = this.#packets.slice(-1);\n    this.#options.port",
  },
];
