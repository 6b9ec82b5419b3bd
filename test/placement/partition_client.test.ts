import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test, vi } from "vitest";
import { Failure, Untaken } from "../../src/errors.ts";
import { fetchReader } from "../../src/ingress/request_reader.ts";
import { type EndpointOptions, partitionEndpoint } from "../../src/placement/partition_endpoint.ts";
import { NotSent, type Post, RemotePartitionClient } from "../../src/placement/partition_client.ts";
import type { OnLeave, PartitionClient } from "../../src/ports.ts";
import { batch, bytes, id, OBJECT, part, request } from "./_requests.ts";

const SECRET = "sixteen-and-more";
/** A partition client with these methods only: those that a test calls. */
function clientOf(methods: Partial<PartitionClient>): PartitionClient {
  return new Proxy(methods, {
    get: (target, name) => Reflect.get(target, name) ?? (() => Promise.reject(new Error("closed"))),
  }) as PartitionClient;
}

function endpointOf(client: PartitionClient | undefined, more: Partial<EndpointOptions> = {}) {
  return partitionEndpoint({
    secret: SECRET,
    partitionClient: (partition) => partition === 3 ? client : undefined,
    owner: () => "http://elsewhere",
    refresh: () => {},
    reload: () => Promise.resolve(),
    flush: () => Promise.resolve(),
    running: () => [],
    reader: fetchReader,
    bytesMax: 40 * 1024 * 1024,
    log: () => {},
    ...more,
  });
}

/**
 * Requests that an endpoint answers. On Node the signal of a `Request` follows the one it was made
 * with only while the `Request` is in memory. The listeners of the adapters keep theirs: a message
 * of Node is held by its socket, and one of Deno or workerd by its server.
 */
const answering = new Set<Request>();

function lineTo(endpoint: (request: Request) => Promise<Response>): Post {
  return (url, init) =>
    new Promise((resolve, reject) => {
      init.signal.addEventListener("abort", () => reject(init.signal.reason), { once: true });
      const headers = { ...init.headers, "content-length": String(init.body.length) };
      const request = new Request(url, { ...init, headers });
      answering.add(request);
      endpoint(request).then(resolve, reject).finally(() => answering.delete(request));
    });
}

function remoteOf(client: PartitionClient | undefined, secret = SECRET): RemotePartitionClient {
  const post = lineTo(endpointOf(client));
  return new RemotePartitionClient({ post, secret, address: "http://peer:1" }, 3);
}

describe("what is asked and answered passes as it is:", () => {
  const result = { kind: "value", value: bytes(0, 255) } as const;
  const { target } = request;
  const cases: {
    readonly [K in keyof PartitionClient]: readonly [args: unknown[], answer: unknown];
  } = {
    send: [[request], { id, status: "previouslyAccepted", startAt: 5 }],
    call: [[request], { result, expiresAt: 7 }],
    attach: [[id], { target, result }],
    output: [[id], "notReady"],
    signal: [[{ target: id, id: { kind: "signal", index: 17 }, result }], undefined],
    editState: [
      [OBJECT, {
        pairs: [{ name: "\0", value: bytes(1) }],
        version: "v",
      }],
      undefined,
    ],
    completePromise: [[{ object: OBJECT, name: "p", run: id }, result], "completed"],
    operate: [[id, { kind: "restart", newId: id, from: 2 }], { id, status: "done", target }],
    deliver: [[batch], 21],
    ingest: [[part], { next: 4, isFull: true }],
    letters: [[{ written: [{ id, attempt: 2 }], returned: [], bytesMax: 9 }], [
      { id, attempt: 3, subscription: "sub_1", at: 5, reason: "no", headers: [], value: bytes(1) },
    ]],
    changes: [["0.1/7"], {
      cursor: "0.1/9",
      invocations: [id],
      services: ["Greeter"],
      isAll: true,
    }],
  };
  for (const [method, [args, answer]] of Object.entries(cases)) {
    test(method, async () => {
      const heard = vi.fn((..._: unknown[]) => Promise.resolve(answer));
      const client = remoteOf(clientOf({ [method]: heard }));
      const ask = client[method as keyof PartitionClient] as (...all: unknown[]) => unknown;
      expect(await ask.apply(client, args)).toEqual(answer);
      expect(heard.mock.calls[0]?.slice(0, args.length)).toEqual(args);
    });
  }

  test("no invocation has this id", async () => {
    expect(await remoteOf(clientOf({ attach: async () => undefined })).attach(id)).toBeUndefined();
  });

  test("32 MiB, there and back", async () => {
    const value = new Uint8Array(32 * 1024 * 1024).fill(7);
    const client = clientOf({ call: async ({ value }) => ({ result: { kind: "value", value } }) });
    const { result } = await remoteOf(client).call({ ...request, value });
    expect(result.kind === "value" && result.value.length).toBe(value.length);
    expect(result.kind === "value" && result.value.every((byte) => byte === 7)).toBe(true);
  });

  test("small bytes do not keep a large batch in memory", async () => {
    const sizes: number[] = [];
    const client = clientOf({
      deliver: async ({ messages }) => {
        for (const one of messages) {
          if (one.type === "invoked") sizes.push(one.value.buffer.byteLength);
        }
        return 1;
      },
    });
    const large = { ...request, type: "invoked", value: new Uint8Array(1024) } as const;
    await remoteOf(client).deliver({ from: 0, first: 1, messages: Array(8).fill(large) });
    expect(sizes).toEqual(Array(8).fill(1024));
  });
});

describe("failures", () => {
  const refusing = (cause: unknown) => remoteOf(clientOf({ send: () => Promise.reject(cause) }));

  test("keep status, code and message", async () => {
    const plain = await refusing(Failure.plain(499, "gone")).send(request).catch((one) => one);
    expect([plain.status, plain.code, plain.message]).toEqual([499, null, "gone"]);
    const coded = await refusing(new Failure("RT0010", "no", { status: 471 })).send(request)
      .catch((one) => one);
    expect([coded.status, coded.code, coded.message]).toEqual([471, "RT0010", "[RT0010] no"]);
    expect(coded).not.toBeInstanceOf(Untaken);
  });

  test("say whether the request was taken", async () => {
    await expect(refusing(new Untaken("no life")).send(request)).rejects.toBeInstanceOf(Untaken);
    await expect(remoteOf(undefined).send(request)).rejects.toBeInstanceOf(Untaken);
    const broken = new RemotePartitionClient({
      post: () => Promise.reject(new Error("the connection broke")),
      secret: SECRET,
      address: "http://peer",
    }, 3);
    const doubt = await broken.send(request).catch((one) => one);
    expect([doubt.status, doubt.message]).toEqual([503, expect.stringContaining("repeating")]);
    expect(doubt).not.toBeInstanceOf(Untaken);
    const unreachable = new RemotePartitionClient({
      post: () => Promise.reject(new NotSent("refused")),
      secret: SECRET,
      address: "http://peer",
    }, 3);
    await expect(unreachable.send(request)).rejects.toBeInstanceOf(Untaken);
  });

  test("of this server are not shown to clients without the secret", async () => {
    const bug = await refusing(new Error("a path of ours")).send(request).catch((one) => one);
    expect([bug.status, bug.message]).toEqual([500, "internal server error"]);
  });
});

/** Collects what nothing refers to, and lets finalizers run. */
async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a caller that waits", () => {
  test("may leave, and the partition is notified", async () => {
    let [isWaiting, hasLeft] = [false, false];
    const client = clientOf({
      call: (_, onLeave?: OnLeave) => {
        onLeave?.(() => hasLeft = true);
        isWaiting = true;
        return new Promise(() => {});
      },
    });
    let leave: (() => void) | undefined;
    const answer = remoteOf(client).call(request, (one) => leave = one).catch((one) => one);
    await vi.waitFor(() => expect(isWaiting).toBe(true));
    await collectGarbage();
    leave?.();
    expect((await answer).status).toBe(499);
    await vi.waitFor(() => expect(hasLeft).toBe(true));
  });

  test("gets an error when the partition has moved", async () => {
    const remote = remoteOf(clientOf({ call: () => new Promise(() => {}) }));
    const answer = remote.call(request).catch((one) => one);
    remote.close();
    expect((await answer).status).toBe(503);
    await expect(remote.call(request)).rejects.toBeInstanceOf(Untaken);
  });
});

describe("the endpoint", () => {
  const ask = (path: string, init: RequestInit = {}, more: Partial<EndpointOptions> = {}) =>
    endpointOf(clientOf({ output: async () => "unknown" }), more)(
      new Request(`http://here${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${SECRET}` },
        ...init,
      }),
    );
  const shows = (authorization: string) => ({ headers: { authorization } });

  test("requires the secret, and does not reveal it", async () => {
    const none = await ask("/partitions/3/output", { headers: {} });
    expect(none.status).toBe(401);
    for (
      const wrong of [
        `Bearer ${SECRET}x`,
        `Bearer ${SECRET.slice(0, -1)}`,
        `Bearer ${SECRET}${SECRET}`,
        `Bearer ${SECRET.toUpperCase()}`,
      ]
    ) {
      const answer = await ask("/partitions/3/output", shows(wrong));
      expect([answer.status, await answer.text()], wrong).toEqual([
        403,
        expect.not.stringContaining(SECRET),
      ]);
    }
    expect((await ask("/registry/reload", shows("Bearer no"))).status).toBe(403);
    expect((await ask("/fleet/look", shows("Basic x"))).status).toBe(401);
    await expect(remoteOf(clientOf({}), "another-secret--").output(id)).rejects.toThrow(
      "same secret",
    );
  });

  test("says where else a partition is", async () => {
    const answer = await ask("/partitions/4/output");
    expect([answer.status, (await answer.json()).owner]).toEqual([421, "http://elsewhere"]);
  });

  test("refuses what is not for it", async () => {
    expect((await ask("/partitions/3/constructor")).status).toBe(404);
    expect((await ask("/partitions/3/call/x")).status).toBe(404);
    expect((await ask("/")).status).toBe(404);
    expect((await ask("/partitions/3/output", { method: "PUT" })).status).toBe(405);
    expect((await ask("/partitions/3/output", { body: "no" })).status).toBe(400);
    expect((await ask("/partitions/3/output", { body: bytes(0, 0, 0, 9, 1) })).status).toBe(400);
    expect((await ask("/partitions/3/output", { body: bytes(0, 0, 0, 2, 0x5b, 0x5d) })).status)
      .toBe(200);
    const tight = { bytesMax: 3 };
    expect((await ask("/partitions/3/output", { body: "four" }, tight)).status).toBe(413);
  });

  test("reloads the registry and reads the membership when it is asked to", async () => {
    const [reload, refresh] = [vi.fn(async () => {}), vi.fn()];
    expect((await ask("/registry/reload", {}, { reload })).status).toBe(200);
    expect((await ask("/fleet/look", {}, { refresh })).status).toBe(200);
    expect([reload.mock.calls.length, refresh.mock.calls.length]).toEqual([1, 1]);
    const failing = () => Promise.reject(Failure.plain(503, "no"));
    expect((await ask("/registry/reload", {}, { reload: failing })).status).toBe(503);
  });
});
