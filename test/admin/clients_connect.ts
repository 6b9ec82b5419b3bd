import { pathToFileURL } from "node:url";

/** What the client package says of an invocation it sent. */
export interface Sent {
  readonly invocationId: string;
  readonly status: "Accepted" | "PreviouslyAccepted";
  readonly attachable: boolean;
}

/** Handlers by name: `(input?, options?) => result`. */
type Handlers = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
type Senders = Readonly<Record<string, (...args: readonly unknown[]) => Promise<Sent>>>;

export interface WorkflowClient {
  workflowSubmit(...args: readonly unknown[]): Promise<Sent>;
  workflowAttach(options?: unknown): Promise<unknown>;
  workflowOutput(options?: unknown): Promise<{ readonly ready: boolean; readonly result: unknown }>;
  readonly peek: () => Promise<unknown>;
  readonly go: (word: string) => Promise<unknown>;
}

interface Named {
  readonly name: string;
  readonly _kind?: "service" | "object" | "workflow";
}

/** Of `call` and `send`, which name their handler. */
export interface Generic {
  readonly service: string;
  readonly handler: string;
  readonly parameter: unknown;
  readonly key?: string;
  readonly scope?: string;
  readonly opts?: unknown;
}

interface Clients {
  serviceClient(named: Named): Handlers;
  objectClient(named: Named, key: string): Handlers;
  serviceSendClient(named: Named): Senders;
  objectSendClient(named: Named, key: string): Senders;
  workflowClient(named: Named, key: string): WorkflowClient;
  client(named: Named, key?: string): Handlers;
  sendClient(named: Named, key?: string): Senders;
}

/** Every call that the package offers; it is not installed here, so its types are not either. */
export interface Ingress extends Clients {
  call(generic: Generic): Promise<unknown>;
  send(generic: Generic): Promise<Sent>;
  result(sent: Sent, serde?: unknown): Promise<unknown>;
  resolveAwakeable(id: string, payload?: unknown, serde?: unknown): Promise<void>;
  rejectAwakeable(id: string, reason: string): Promise<void>;
  scope(scope: string): Clients;
}

/** The package's exports that are used here. */
export interface ClientPackage {
  connect(options: {
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly retry?: boolean;
  }): Ingress;
  readonly rpc: {
    opts(options: Readonly<Record<string, unknown>>): unknown;
    sendOpts(options: Readonly<Record<string, unknown>>): unknown;
  };
  readonly HttpCallError: new (...args: never) => Error & {
    readonly status: number;
    readonly responseText: string;
  };
}

/** Loads the package from where npm put it. */
export async function loadClients(file: string): Promise<ClientPackage> {
  return await import(pathToFileURL(file).href) as ClientPackage;
}
