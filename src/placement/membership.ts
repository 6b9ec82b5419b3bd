import { sql } from "kysely";
import type { SqlClient, Statement } from "../ports.ts";
import { compile, statement } from "../storage/codec/sql_text.ts";

/** A process of the fleet. */
export interface FleetMember {
  /** Drawn anew whenever it joins. */
  readonly id: string;
  /** Where the others reach it: `http://host:port`. */
  readonly address: string;
}

/** A process, and which others it cannot reach, by id. */
export interface ReportingMember extends FleetMember {
  readonly unreached?: readonly string[];
}

/** What the database says about the fleet. */
export interface FleetView {
  /** Everybody who is not known to be dead, by id, each with the number of its last heartbeat. */
  readonly nodes: readonly (ReportingMember & { readonly beat: number })[];
  /** The owner of each partition, in order. Who is not among `nodes` owns nothing. */
  readonly owners: readonly (string | undefined)[];
  /** Changes with everything that is registered. */
  readonly registry: number;
}

/**
 * Who lives and who owns what, as everybody in the fleet can read it. Each method is atomic, and may
 * be repeated when it is not known what became of it. Rejects when there is no answer in time.
 */
export interface Membership {
  /** Enters a process. Whoever had its address before it is dead, if `replacesAddress`. */
  join(node: FleetMember, replacesAddress: boolean): Promise<void>;
  /** Says that a process lives, if it is entered, and which others it cannot reach, and looks. */
  beat(id: string, unreached: readonly string[]): Promise<FleetView>;
  /** Everybody who is entered at this moment. */
  nodes(): Promise<readonly FleetMember[]>;
  /** Strikes off a process that has not said so since this heartbeat. It owns nothing then. */
  evict(id: string, beat: number): Promise<void>;
  /** Makes a process that is entered the owner of those partitions that have none. */
  take(partitions: readonly number[], id: string): Promise<void>;
  /** Makes partitions of this process nobody's. */
  give(partitions: readonly number[], id: string): Promise<void>;
  /** Strikes off a process that goes. It owns nothing then. */
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

/** The ledger of an installation of so many partitions, in the database that holds its leases. */
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
      const looks = [statement(NODES), statement(OWNERS), statement(REGISTRY)];
      const [, nodes = [], leases = [], [registry] = []] = await client.batch("write", [
        statement(BEAT, id, unreached.join(",")),
        ...looks,
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
