import { type Counted, countersOf, isScoped, scopedName } from "../../engine/flow/counters.ts";
import type { Corrected } from "../../engine/flow/slots.ts";
import type { Controls } from "../../model/limits.ts";
import type { Meter } from "../../observe/meter.ts";
import type { Log } from "../../ports.ts";
import type { DamagedHolder } from "../../scan.ts";

/** What a partition logs and counts with, and its number. */
export interface DisagreementLog {
  readonly log: Log;
  readonly meter: Pick<Meter, "disagreements">;
  readonly partition: number;
}

const VERIFY = `"perdure verify" lists all damaged rows`;

/**
 * Logs and counts an invocation whose slots are not counted (decision 069), with the counters that it
 * would be counted in and the rules that limit these.
 */
export function logDamagedHolder(
  { id, damage, counted }: DamagedHolder,
  controls: Controls,
  { log, meter, partition }: DisagreementLog,
): void {
  meter.disagreements.invocation++;
  const message = `Invocation "${id}" is counted nowhere: ${damage}; ${VERIFY}`;
  log("error", message, {
    code: "RT0028",
    partition,
    ...counted && { counters: countersOf(counted).join(" "), ...rulesOf(counted, controls) },
  });
}

/**
 * Logs and counts that a bank was corrected: the counter, and the slots that it had for its own
 * partition.
 */
export function logCorrected(
  { counter, given, slots }: Corrected,
  { log, meter, partition }: DisagreementLog,
): void {
  meter.disagreements.bank++;
  const message = `The slots of "${counter}" were corrected: the bank had given ${given} to ` +
    `partition ${partition}, which has ${slots}`;
  log("error", message, { code: "RT0028", partition, counters: counter });
}

/** The patterns of the rules that limit what is counted, if any does. */
function rulesOf(counted: Counted, { rules }: Controls): { readonly rules?: string } {
  const patterns = countersOf(counted).filter(isScoped)
    .flatMap((counter) => rules.ruleOf(scopedName(counter))?.pattern ?? []);
  return patterns.length === 0 ? {} : { rules: patterns.join(" ") };
}
