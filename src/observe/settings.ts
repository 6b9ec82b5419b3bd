import type { Config } from "../config.ts";
import type { ObservationOptions } from "./observation.ts";

/** The settings of log records and spans. */
export function observationSettings(
  config: Config,
): Pick<ObservationOptions, "clusterName" | "isDetailed" | "tracing"> & {
  readonly waitsAfterMs: number;
} {
  return {
    waitsAfterMs: config["log-waits-after"],
    clusterName: config["cluster-name"],
    isDetailed: config["log-failure-details"],
    tracing: {
      endpoint: config["tracing-endpoint"],
      headers: config["tracing-headers"],
      samplePercent: config["tracing-sample-percent"],
      spansMax: config["tracing-queue-spans-max"],
    },
  };
}
