import { expect } from "vitest";
import { Failure } from "../../src/errors.ts";
import { parseManifest } from "../../src/wire/manifest.ts";

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

export function handlerOf(document: unknown) {
  return parseManifest(document).services[0]?.handlers.run;
}

export function failureOf(document: unknown): Failure {
  try {
    parseManifest(document);
  } catch (error) {
    expect(error).toBeInstanceOf(Failure);
    return error as Failure;
  }
  return expect.unreachable("it was accepted");
}
