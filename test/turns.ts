/**
 * Long files that try again, on another platform, with other data or for longer, what others try, too. A
 * run of `.ci/run` has every sixth of them, as its commit decides; all others run each time, and `npm test`
 * runs all. In the order of what they cost, so that each part costs the same.
 */
export const BY_TURNS: readonly string[] = [
  "crash/big.test.ts",
  "package/executable.test.ts",
  "create/starters.test.ts",
  "docs/pages.test.ts",
  "conformance/node_partitions.test.ts",
  "outbound/credentials/id_tokens.test.ts",
  "crash/mixed.test.ts",
  "create/newcomer.test.ts",
  "tls/endpoints.test.ts",
  "growth/encryption.test.ts",
  "conformance/secrets_start.test.ts",
  "conformance/resources.test.ts",
  "kafka/facts_flow.test.ts",
  "kafka/facts_trouble.test.ts",
  "growth/reshard.test.ts",
  "conformance/encryption.test.ts",
  "conformance/data_damage.test.ts",
  "tls/ports.test.ts",
  "release/release.test.ts",
  "fleet/tls.test.ts",
  "storage/remote.test.ts",
  "workerd/durable_sqlite.test.ts",
  "kafka/serve_sidecar.test.ts",
  "ui/foreign_pages.test.ts",
  "ui/platforms.test.ts",
  "conformance/node_sqld.test.ts",
  "introspection/process.test.ts",
  "fleet/faults.test.ts",
  "observe/collector_egress.test.ts",
  "kafka/crash_fleet.test.ts",
  "conformance/deno_sqld.test.ts",
  "workerd/eviction.test.ts",
  "conformance/fresh_copy.test.ts",
  "kafka/sidecar_crashes.test.ts",
  "outbound/credentials/variables.test.ts",
  "attacks/tokens.test.ts",
  "attacks/tokens_deno.test.ts",
  "package/package.test.ts",
  "conformance/sessions.test.ts",
  "growth/progress.test.ts",
  "storage/remote_lost.test.ts",
  "conformance/workerd_partitions.test.ts",
  "outbound/egress/whole.test.ts",
  "protocol/scopes_off.test.ts",
  "introspection/guard.test.ts",
  "conformance/workerd_sqld.test.ts",
  "observe/process.test.ts",
  "growth/backup.test.ts",
  "storage/big.test.ts",
  "introspection/remote.test.ts",
  "crash/large_values.test.ts",
];

/** The paths of the files that are left to other runs. `LONG_PARTS=4 LONG_PART=1`: of four parts the second runs. */
export function leftOut(
  { LONG_PARTS: parts, LONG_PART: part }: Record<string, string | undefined>,
): string[] {
  if (parts === undefined) return [];
  const isNow = (at: number) => at % Number(parts) === Number(part ?? 0) % Number(parts);
  return BY_TURNS.filter((_, at) => !isNow(at)).map((file) => `test/${file}`);
}
