import { FastResponse } from "srvx";
import { bench, describe } from "vitest";
import { ingress } from "../../src/ingress/router.ts";
import type { RequestReader } from "../../src/ingress/request_reader.ts";
import { FakeInvocations, NOW, schemaOf } from "./_fixture.ts";

// What ingress itself costs per request: the bridge is replaced by ready answers.
globalThis.Response = FastResponse as unknown as typeof Response;

const rawHeaders = [
  ...["Host", "127.0.0.1:8080", "User-Agent", "curl/7.88.1", "Accept", "*/*"],
  ...["Content-Type", "application/json", "Content-Length", "7"],
];
const bytes = new TextEncoder().encode('{"a":1}');
const entropy = crypto.getRandomValues(new Uint8Array(16));
const schema = schemaOf("svc");

function reading(target: string): RequestReader {
  return {
    target: () => target,
    headers: () => rawHeaders,
    body: () => bytes,
    onLeave: () => {},
  };
}

function serving(target: string): () => Promise<void> {
  const invocations = new FakeInvocations();
  const handle = ingress({
    invocations,
    schema: () => schema,
    now: () => NOW,
    random: () => entropy,
    log: () => {},
    reader: reading(target),
  });
  const request = { method: "POST" } as Request;
  return async () => {
    invocations.calls.length = 0;
    invocations.sends.length = 0;
    await handle(request);
  };
}

describe("cost per request", () => {
  bench("call a service", serving("/svc/call/Svc/opt"));
  bench("call an object", serving("/svc/call/Obj/some-key/set"));
  bench("send, legacy path", serving("/Svc/opt/send"));
  bench("send with a delay", serving("/svc/send/Svc/opt?delay=1h+30m"));
  bench("unknown handler", serving("/svc/call/Svc/nope"));
});
