import { expect } from "vitest";
import { Failure } from "../../src/errors.ts";
import { type Manifest, readManifest } from "../../src/wire/manifest.ts";

// Manifests to vary: one service, `Svc`, with one handler, `run`.

export const handler = (fields: object = {}) => ({ name: "run", ...fields });
export const service = (fields: object = {}) => ({
  name: "Svc",
  ty: "SERVICE",
  handlers: [handler()],
  ...fields,
});
export const manifest = (fields: object = {}) => ({
  protocolMode: "BIDI_STREAM",
  minProtocolVersion: 5,
  maxProtocolVersion: 7,
  services: [service()],
  ...fields,
});
export const withService = (fields: object) => manifest({ services: [service(fields)] });
export const withHandler = (fields: object, of: object = {}) =>
  withService({ ...of, handlers: [handler(fields)] });

/** Reads a manifest without pauses. */
export function parse(document: unknown, partsMax = 1000): Manifest {
  const reading = readManifest(document, partsMax);
  for (;;) {
    const { done, value } = reading.next();
    if (done) return value;
  }
}

export function handlerOf(document: unknown) {
  return parse(document).services[0]?.handlers.run;
}

export function failureOf(document: unknown): Failure {
  try {
    parse(document);
  } catch (error) {
    expect(error).toBeInstanceOf(Failure);
    return error as Failure;
  }
  return expect.unreachable("it was accepted");
}
