import { sql } from "kysely";
import type { SqlClient, Statement } from "../ports.ts";
import { compile, statement } from "../storage/codec/sql_text.ts";

/** A member of the fleet. */
export interface FleetMember {
  /** A new id at every join. */
  readonly id: string;
  /** Where other members reach it: `http://host:port`. */
  readonly address: string;
}

/** A member, and the ids of the members that it cannot reach. */
export interface ReportingMember extends FleetMember {
  readonly unreached?: readonly string[];
}

/** The state of the fleet in the database. */
export interface FleetView {
  /** All members that are not evicted, by id, each with the number of its last heartbeat. */
  readonly nodes: readonly (ReportingMember & { readonly beat: number })[];
  /** The owner of each partition, in order. An owner that is not among `nodes` counts as none. */
  readonly owners: readonly (string | undefined)[];
  /** The version of the deployments. */
  readonly registry: number;
}

/**
 * The members of the fleet and the owners of the partitions, shared by all members. Each method is
 * atomic and idempotent, so it may be retried when its outcome is ambiguous. Rejects when the database
 * does not respond in time.
 */
export interface Membership {
  /** Adds a member. With `replacesAddress`, evicts other members with its address: they are dead. */
  join(node: FleetMember, replacesAddress: boolean): Promise<void>;
  /** A heartbeat: raises a member's number, stores which members it cannot reach, and reads all. */
  beat(id: string, unreached: readonly string[]): Promise<FleetView>;
  /** All members at this moment. */
  nodes(): Promise<readonly FleetMember[]>;
  /** Deletes a member without a heartbeat since number `beat`, which ends its leases. */
  evict(id: string, beat: number): Promise<void>;
  /** Makes a member the owner of those of the partitions that have none. */
  take(partitions: readonly number[], id: string): Promise<void>;
  /** Removes the owner of those of the partitions that the member owns. */
  give(partitions: readonly number[], id: string): Promise<void>;
  /** Deletes a member that stops, which ends its leases. */
  leave(id: string): Promise<void>;
}

const JOIN = compile(sql`insert into node (id, address, beat) values (?1, ?2, 0)
  on conflict (id) do nothing`);
const REPLACE_ADDRESS = compile(sql`delete from node where address = ?1 and id <> ?2`);
const BEAT = compile(sql`update node set beat = beat + 1, unreached = ?2 where id = ?1`);
const NODES = compile(sql`select id, address, beat, unreached from node order by id`);
const OWNERS = compile(sql`select partition, owner from lease where owner is not null`);
const REGISTRY = compile(sql`select value from meta where name = 'deployments'`);
const EVICT = compile(sql`delete from node where id = ?1 and beat = ?2`);
const TAKE = compile(sql`insert into lease (partition, epoch, owner)
  select ?1, 0, ?2 where exists (select 1 from node where id = ?2)
  on conflict (partition) do update set owner = excluded.owner
  where owner is null or owner not in (select id from node)`);
const GIVE = compile(sql`update lease set owner = null where partition = ?1 and owner = ?2`);
const LEAVE = compile(sql`delete from node where id = ?1`);

/** The membership of an installation with `partitions`, in the database that holds its leases. */
export function sqlMembership(client: SqlClient, partitions: number): Membership {
  const write = async (statements: readonly Statement[]): Promise<void> => {
    if (statements.length > 0) await client.batch("write", statements);
  };
  return {
    join: ({ id, address }, replacesAddress) =>
      write([
        ...(replacesAddress ? [statement(REPLACE_ADDRESS, address, id)] : []),
        statement(JOIN, id, address),
      ]),
    async beat(id, unreached) {
      const reads = [statement(NODES), statement(OWNERS), statement(REGISTRY)];
      const [, nodes = [], leases = [], [registry] = []] = await client.batch("write", [
        statement(BEAT, id, unreached.join(",")),
        ...reads,
      ]);
      const owners = new Map(leases.map(({ partition, owner }) => [partition, owner as string]));
      return {
        nodes: nodes.map(({ id, address, beat, unreached }) => ({
          id: String(id),
          address: String(address),
          beat: Number(beat),
          unreached: String(unreached).split(",").filter((one) => one !== ""),
        })),
        owners: Array.from({ length: partitions }, (_, partition) => owners.get(partition)),
        registry: Number(registry?.["value"] ?? 0),
      };
    },
    async nodes() {
      const [nodes = []] = await client.batch("read", [statement(NODES)]);
      return nodes.map(({ id, address }) => ({ id: String(id), address: String(address) }));
    },
    evict: (id, beat) => write([statement(EVICT, id, beat)]),
    take: (numbers, id) => write(numbers.map((partition) => statement(TAKE, partition, id))),
    give: (numbers, id) => write(numbers.map((partition) => statement(GIVE, partition, id))),
    leave: (id) => write([statement(LEAVE, id)]),
  };
}
