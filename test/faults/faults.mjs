import { adaptersData } from "./adapters_data.mjs";
import { adaptersKey } from "./adapters_key.mjs";
import { adaptersPlaces } from "./adapters_places.mjs";
import { adaptersEgress } from "./adapters_egress.mjs";
import { adaptersNetwork } from "./adapters_network.mjs";
import { http2 } from "./http2.mjs";
import { storageRows } from "./storage_rows.mjs";
import { storageWrites } from "./storage_writes.mjs";

/**
 * Realistic faults: in `file`, the one place that reads `find` reads `replace`. `tests`: the files
 * that could notice, quickest first. `equivalent`: why no test can, for nothing differs.
 */
export const faults = [
  ...storageRows,
  ...storageWrites,
  ...adaptersNetwork,
  ...adaptersEgress,
  ...adaptersData,
  ...adaptersKey,
  ...adaptersPlaces,
  ...http2,
];
