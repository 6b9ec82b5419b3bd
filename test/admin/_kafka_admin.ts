import { KafkaAdmin } from "../../src/admin/kafka/kafka_admin.ts";
import type { Registry } from "../../src/admin/registry.ts";
import type { KafkaStore } from "../../src/kafka_port.ts";
import type { World } from "./_setup.ts";

/** What sidecars have to show. */
export const TOKEN = "0123456789abcdef";

/** The largest value of a record, in bytes. */
export const VALUE_BYTES_MAX = 1000;

/** The server's end of sidecars, over partitions that take everything. */
export function kafkaOf(
  world: World,
  registry: Registry,
  store: KafkaStore | undefined,
): KafkaAdmin {
  return new KafkaAdmin({
    registry,
    store,
    token: store ? "" : TOKEN,
    counts: world.counts,
    clock: {
      now: () => world.now,
      at: (due, call) => world.at(due, call),
      soon: (call) => void setImmediate(call),
    },
    random: (size) => new Uint8Array(size).fill(7),
    log: (level, message, fields = {}) => world.logged.push({ level, message, fields }),
    take: (batch) => world.take(batch),
    letters: (request) => {
      world.letterRequests.push(request);
      return Promise.resolve(request.bytesMax > 0 ? world.owed : []);
    },
    valueBytesMax: VALUE_BYTES_MAX,
    isScopeRead: false,
  });
}
