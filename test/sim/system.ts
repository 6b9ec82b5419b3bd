import type { HostOptions } from "../../src/partition/life.ts";
import type { Directory } from "../../src/placement/directory.ts";
import type { RecordsOfSource } from "../../src/placement/router.ts";
import type { OwedLetter } from "../../src/model/kafka.ts";
import type { ThreadPeersOptions } from "../../src/placement/thread_peers.ts";
import type { LettersRequest, PartitionClient, PartTaken } from "../../src/ports.ts";
import type { FleetOptions } from "./fleet.ts";

/** What is simulated: the real `Host`, or a sabotaged one. */
export interface System {
  readonly Host: new (options: HostOptions) => SimulatedHost;
  readonly MembershipAgent: FleetOptions["MembershipAgent"];
  readonly Router: new (directory: Directory) => {
    ingest(batch: RecordsOfSource): Promise<PartTaken>;
    letters(request: LettersRequest): Promise<readonly OwedLetter[]>;
  };
  readonly ThreadPeers: new (options: ThreadPeersOptions) => {
    partitionClient(partition: number): PartitionClient;
  };
  readonly Fenced: new (message?: string) => Error;
}

export interface SimulatedHost {
  readonly partitionClient: PartitionClient;
  /** Requests that wait for an answer. */
  readonly waiting: number;
  open(): Promise<void>;
  close(): void;
  controlsChanged(): void;
  readonly scheduler: {
    counts(): ReadonlyMap<string, { readonly used: number; readonly reserved: number }>;
    readonly grants: readonly number[];
    /** Queues in which something waits. */
    readonly waiting: number;
  } | undefined;
}
