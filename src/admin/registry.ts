import { assert } from "../assert.ts";
import { Failure } from "../errors.ts";
import { printDeploymentId } from "../model/id.ts";
import {
  type Deployment,
  Schema,
  type SchemaDefaults,
  type ServiceSchema,
} from "../model/schema.ts";
import { type Dialect, isReservedService } from "../names.ts";
import type { Clock, DeploymentStore, Random } from "../ports.ts";
import { Lanes } from "./lanes.ts";
import { missing, quote, sharedAddress, stillNeeded } from "./refusals.ts";
import { sameManifest } from "./same_manifest.ts";

/** Registrations that may be under way or waiting. Beyond it they are refused with 503. */
export const registrationsMax = 100;

/** What a registration asks for (http-api §3.4), its address normalized by `parseAddress`. */
export interface Registration {
  readonly uri: string;
  readonly useHttp11: boolean;
  /** Sent with discovery and with every attempt. Lower-case names. */
  readonly additionalHeaders: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Overwrites a deployment with the same address; allows what `breaking` allows. */
  readonly force: boolean;
  /** Allows services to change their type. */
  readonly breaking: boolean;
  /** Discovers and checks, and stores nothing. */
  readonly dryRun: boolean;
}

/** What came of a registration. `unchanged`: the address is known and still serves the same. */
export interface Registered {
  readonly outcome: "created" | "overwritten" | "unchanged";
  readonly deployment: Deployment;
}

/** What an endpoint says about itself, before it is a deployment. */
export interface Manifest {
  readonly mode: Deployment["mode"];
  readonly minProtocol: number;
  readonly maxProtocol: number;
  readonly services: readonly ManifestService[];
}

export type ManifestService = Omit<ServiceSchema, "deployment" | "revision">;

/** How an endpoint answered discovery. */
export interface Discovered {
  readonly manifest: Manifest;
  readonly httpVersion: Deployment["httpVersion"];
  readonly dialect: Dialect;
  readonly sdkVersion?: string;
}

/** Asks an endpoint what it serves. Rejects with a `Failure` META0003, 12, 13, 14 or 15. */
export type Discover = (
  request: Pick<Registration, "uri" | "useHttp11" | "additionalHeaders">,
) => Promise<Discovered>;

export interface RegistryOptions {
  readonly discover: Discover;
  readonly clock: Pick<Clock, "now">;
  readonly random: Random;
}

/** The lane of everything that writes: no address is the empty string. */
const WRITING = "";

/** Owns the deployments: what is stored, and the schema snapshot that everybody else reads. */
export class Registry {
  readonly #store: DeploymentStore;
  readonly #options: RegistryOptions;
  readonly #lanes = new Lanes();
  #schema: Schema;
  #underWay = 0;
  #doubtful = false;

  constructor(store: DeploymentStore, schema: Schema, options: RegistryOptions) {
    this.#store = store;
    this.#schema = schema;
    this.#options = options;
  }

  /** Loads the stored deployments. Rejects as the store does. */
  static async open(
    store: DeploymentStore,
    defaults: SchemaDefaults,
    options: RegistryOptions,
  ): Promise<Registry> {
    return new Registry(store, new Schema(await store.load(), defaults), options);
  }

  /** The current snapshot. It only ever shows deployments that are durable. */
  schema(): Schema {
    return this.#schema;
  }

  /** All deployments, oldest registration first. */
  list(): Deployment[] {
    return [...this.#schema.deployments.values()].sort(byAge);
  }

  get(id: string): Deployment | undefined {
    return this.#schema.deployments.get(id);
  }

  /**
   * Discovers and stores one endpoint; durable when it resolves. Registrations of one address take
   * turns as a whole, so what is stored is never older than what was stored before it; an endpoint
   * that hangs delays nobody else, for only the deciding and writing take turns across addresses.
   *
   * Rejects with a `Failure`: discovery's; META0004 for a known address that serves something
   * else, META0005 for a reserved name, META0006 for a changed type, META0017 for a forced
   * registration of a shared address (architecture §10); 503 when too many are under way or the
   * store fails.
   */
  async register(request: Registration): Promise<Registered> {
    if (this.#underWay >= registrationsMax) {
      throw Failure.plain(
        503,
        "Cannot register a deployment: too many registrations are under way",
      );
    }
    this.#underWay++;
    try {
      return await this.#lanes.run(request.uri, async () => {
        const found = await this.#options.discover(this.#asking(request));
        return await this.#lanes.run(WRITING, () => this.#settle(request, found));
      });
    } finally {
      this.#underWay--;
    }
  }

  /**
   * Forgets a deployment; durable when it resolves. Its services fall back to the newest remaining
   * deployment that has them, or disappear (http-api §3.4). Rejects with a `Failure`: 404 for one
   * that is unknown, 409 without `force`, 503 when the store fails.
   */
  async remove(id: string, force: boolean): Promise<void> {
    await this.#lanes.run(WRITING, async () => {
      if (this.#doubtful) await this.#reload("delete");
      const deployment = this.get(id);
      if (!deployment) throw missing("deployment", id);
      if (!force) throw stillNeeded(id, servedBy(deployment, this.#schema));
      await this.#write("delete", () => this.#store.drop(id));
      this.#show(this.#others(id));
    });
  }

  /** Unless it is overwritten, a known endpoint is asked the way its attempts would be. */
  #asking({ uri, useHttp11, additionalHeaders, force }: Registration): Parameters<Discover>[0] {
    const known = force ? undefined : this.#at(uri)[0];
    return {
      uri,
      useHttp11: useHttp11 || known?.httpVersion === "HTTP/1.1",
      additionalHeaders: { ...known?.additionalHeaders, ...additionalHeaders },
    };
  }

  async #settle(request: Registration, found: Discovered): Promise<Registered> {
    if (this.#doubtful) await this.#reload("register");
    const known = this.#at(request.uri);
    if (known[0] && !request.force) return unchanged(known[0], found.manifest);
    if (known.length > 1) throw sharedAddress(known);

    const deployment = this.#deployment(request, found, known[0]);
    this.#check(deployment, request.force || request.breaking);
    if (!request.dryRun) await this.#save(deployment);
    return { outcome: known[0] ? "overwritten" : "created", deployment };
  }

  /** The deployments with this address, latest registration first. */
  #at(uri: string): Deployment[] {
    return this.list().filter((one) => one.uri === uri).reverse();
  }

  #deployment(request: Registration, found: Discovered, old?: Deployment): Deployment {
    const { mode, minProtocol, maxProtocol, services } = found.manifest;
    const id = old?.id ?? this.#newId();
    // Of services with the same name the last one wins (service protocol §1.11).
    const byName = new Map(services.map((service) => [service.name, service]));
    return {
      id,
      uri: request.uri,
      mode,
      httpVersion: found.httpVersion,
      dialect: found.dialect,
      additionalHeaders: request.additionalHeaders,
      metadata: request.metadata,
      minProtocol,
      maxProtocol,
      ...(found.sdkVersion !== undefined && { sdkVersion: found.sdkVersion }),
      createdAt: this.#options.clock.now(),
      services: [...byName.values()].map((service) => ({
        ...service,
        deployment: id,
        revision: (this.#schema.latest(service.name)?.revision ?? 0) + 1,
      })),
    };
  }

  /** A ULID: 48 bits of time, most significant first, then chance (service protocol §7.3). */
  #newId(): string {
    const bytes = new Uint8Array(16);
    let rest = this.#options.clock.now();
    for (let i = 5; i >= 0; i--) {
      bytes[i] = rest % 256;
      rest = Math.floor(rest / 256);
    }
    bytes.set(this.#options.random(10), 6);
    const id = printDeploymentId(bytes);
    assert(!this.get(id), "A new deployment must not get the id of another one");
    return id;
  }

  #check({ services }: Deployment, mayChangeTypes: boolean): void {
    for (const { name, type } of services) {
      if (isReservedService(name)) {
        throw new Failure(
          "META0005",
          `Cannot register service ${quote(name)}: its name is reserved`,
        );
      }
      const known = this.#schema.latest(name);
      if (known && known.type !== type && !mayChangeTypes) {
        throw new Failure(
          "META0006",
          `Cannot register service ${
            quote(name)
          } as ${type}: its previous revision is a ${known.type}`,
        );
      }
    }
  }

  async #save(deployment: Deployment): Promise<void> {
    await this.#write("register", () => this.#store.save(deployment));
    this.#show([...this.#others(deployment.id), deployment]);
  }

  async #write(verb: Verb, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (cause) {
      // It may have been applied all the same, so the next one that writes asks the store first.
      this.#doubtful = true;
      throw Failure.plain(503, `Cannot ${verb} a deployment: the store cannot be written`, {
        cause,
      });
    }
  }

  async #reload(verb: Verb): Promise<void> {
    try {
      this.#show(await this.#store.load());
    } catch (cause) {
      throw Failure.plain(503, `Cannot ${verb} a deployment: the store cannot be read`, { cause });
    }
    this.#doubtful = false;
  }

  #others(than: string): Deployment[] {
    return [...this.#schema.deployments.values()].filter(({ id }) => id !== than);
  }

  #show(deployments: readonly Deployment[]): void {
    this.#schema = new Schema(deployments, this.#schema.defaults);
  }
}

type Verb = "register" | "delete";

/** The services that take new invocations on this deployment. */
function servedBy({ id, services }: Deployment, schema: Schema): string[] {
  return services.map(({ name }) => name).filter((name) => schema.latest(name)?.deployment === id);
}

function byAge(left: Deployment, right: Deployment): number {
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1);
}

function unchanged(known: Deployment, manifest: Manifest): Registered {
  if (sameManifest(known, manifest)) return { outcome: "unchanged", deployment: known };
  throw new Failure(
    "META0004",
    `Cannot register '${known.uri}': deployment '${known.id}' has this address and serves ` +
      "something else; use a new address, or overwrite it with force",
  );
}
