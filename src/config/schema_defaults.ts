import type { Config } from "../config.ts";
import type { SchemaDefaults } from "../model/schema.ts";

/** What handlers get whose manifest says nothing, and the most it may say. */
export function schemaDefaults(config: Config): SchemaDefaults {
  return {
    inactivityTimeoutMs: config["worker.invoker.inactivity-timeout"],
    abortTimeoutMs: config["worker.invoker.abort-timeout"],
    journalRetentionMs: config["default-journal-retention"],
    idempotencyRetentionMs: config["default-idempotency-retention"],
    workflowRetentionMs: config["default-workflow-completion-retention"],
    yieldThresholdMs: config["invocation-yield-threshold"],
    eagerStateBytesMax: config["worker.invoker.eager-state-size-limit"],
    retry: {
      initialIntervalMs: config["default-retry-policy.initial-interval"],
      maxIntervalMs: config["default-retry-policy.max-interval"],
      factor: config["default-retry-policy.exponentiation-factor"],
      maxAttempts: config["default-retry-policy.max-attempts"],
      onMaxAttempts: config["default-retry-policy.on-max-attempts"],
    },
    ...(config["experimental-enable-vqueues"] && {
      flowControl: {
        scopes: true,
        scopedObjects: config["experimental-enable-scoped-virtual-objects"],
      },
    }),
    limits: {
      journalRetentionMsMax: config["max-journal-retention"],
      idempotencyRetentionMsMax: config["max-idempotency-retention"],
      workflowRetentionMsMax: config["max-workflow-completion-retention"],
      attemptsMax: config["max-retry-policy-max-attempts"],
      journalEntriesMax: config["worker.invoker.journal-entries-limit"],
    },
  };
}
