import path from "node:path";
import { expect } from "vitest";
import { call, register, value } from "../support/client.ts";
import { type Endpoint, startEndpoint } from "../support/endpoint.ts";
import type { Promises, World } from "./_world.ts";

const GROWING = path.join(import.meta.dirname, "../support/services_growing.mjs");

/** Another deployment is registered meanwhile: nobody else may count deployments. */
export const updatePromises: Promises = {
  "serves the handlers that are new at an endpoint when its deployment is put": (world) =>
    withGrowing(world, async (endpoint, deployment) => {
      const { server } = world;
      expect(await value(server, "Growing/first")).toBe("first");
      expect((await call(server, "Growing/second")).status).toBe(404);
      endpoint.release("second");
      await endpoint.stop();
      await endpoint.start();
      const { status } = await fetch(`${server.admin}/deployments/${deployment}`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      expect(status).toBe(200);
      expect(await value(server, "Growing/second")).toBe("second");
      expect(await value(server, "Growing/first")).toBe("first");
    }),

  "shows stored bytes as JSON, and stores JSON, by the serdes of the service": (world) =>
    withGrowing(world, async () => {
      const apply = async (serde: string, text: string) => {
        const url = `${world.server.admin}/internal/services/Growing/serdes/${serde}`;
        const body = new TextEncoder().encode(text);
        const response = await fetch(url, { method: "POST", body });
        return [response.status, await response.text()];
      };
      expect(await apply("decode/shout/input", "HELLO")).toEqual([200, '{"text":"hello"}']);
      expect(await apply("encode/shout/output", '{"text":"hello"}')).toEqual([200, "HELLO"]);
      expect((await apply("decode/first/input", "1"))[0]).toBe(500);
    }),
};

/** An endpoint of its own, whose deployment is gone afterwards. */
async function withGrowing(
  { server, endpoint: { transport } }: World,
  check: (endpoint: Endpoint, deployment: string) => Promise<void>,
): Promise<void> {
  const endpoint = await startEndpoint(transport, GROWING);
  try {
    const { status, body } = await register(server, endpoint);
    expect(status).toBe(201);
    const { id } = body as { readonly id: string };
    await check(endpoint, id);
    const url = `${server.admin}/deployments/${id}?force=true`;
    expect((await fetch(url, { method: "DELETE" })).status).toBe(202);
  } finally {
    await endpoint.close();
  }
}
