import { expect } from "vitest";
import { send, value } from "../support/client.ts";
import { until } from "../support/child.ts";
import type { Promises } from "./_world.ts";

export const objectPromises: Promises = {
  "keeps state between calls, each key for itself": async ({ server, id }) => {
    expect(await value(server, `Counter/${id}/add`, 2)).toBe(2);
    expect(await value(server, `Counter/${id}/add`, 3)).toBe(5);
    expect(await value(server, `Counter/${id}/get`)).toBe(5);
    expect(await value(server, `Counter/${id}-other/get`)).toBe(0);
  },

  "lists and clears state": async ({ server, id }) => {
    await value(server, `Counter/${id}/add`, 1);
    await value(server, `Counter/${id}/append`, "x");
    expect(await value(server, `Counter/${id}/keys`)).toEqual(["value", "words"]);
    await value(server, `Counter/${id}/clear`);
    expect(await value(server, `Counter/${id}/keys`)).toEqual([]);
    expect(await value(server, `Counter/${id}/get`)).toBe(0);
  },

  "fetches state lazily": async ({ server, id }) => {
    await value(server, `Lazy/${id}/put`, ["a", { deep: [1] }]);
    await value(server, `Lazy/${id}/put`, ["b", "c"]);
    expect(await value(server, `Lazy/${id}/keys`)).toEqual(["a", "b"]);
    expect(await value(server, `Lazy/${id}/take`, "a")).toEqual({ deep: [1] });
    expect(await value(server, `Lazy/${id}/take`, "a")).toBe(null);
    expect(await value(server, `Lazy/${id}/keys`)).toEqual(["b"]);
  },

  "takes any text for a key": async ({ server, id }) => {
    for (const key of ["a/b", "ü €", "a b+c", "%", "..", "", "?"]) {
      const path = `Counter/${encodeURIComponent(id + key).replaceAll(".", "%2E")}/add`;
      expect(await value(server, path, 1), key).toBe(1);
    }
  },

  "runs exclusive handlers of a key one after the other, as they came": async ({ server, id }) => {
    const words = Array.from({ length: 20 }, (_, i) => i);
    for (const word of words) await send(server, `Counter/${id}/append`, word);
    await value(server, `Counter/${id}/add`, 1);
    expect(await value(server, `Counter/${id}/words`)).toEqual(words);
  },

  "never lets two exclusive handlers of a key overlap": async ({ server, endpoint, id }) => {
    const add = () => value(server, `Counter/${id}/slowAdd`, { delta: 1, ms: 20 });
    const answers = await Promise.all(Array.from({ length: 10 }, add));
    expect(answers.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 10 }, (_, i) => i + 1),
    );
    // A handler that slept in request-response mode comes in again, but nobody else in between.
    let inside = false;
    for (const line of endpoint.lines().filter((one) => one.startsWith(`${id} `))) {
      if (line.endsWith(" out")) {
        expect(inside, line).toBe(true);
        inside = false;
      } else inside = true;
    }
    expect(await value(server, `Counter/${id}/get`)).toBe(10);
  },

  "runs keys beside each other": async ({ server, endpoint, id }) => {
    await send(server, `Counter/${id}/hold`, id);
    await endpoint.happens(`${id} hold`);
    expect(await value(server, `Counter/${id}-other/add`, 1)).toBe(1);
    endpoint.release(id);
    expect(await value(server, `Counter/${id}/add`, 1)).toBe(1);
  },

  "runs shared handlers beside each other and beside an exclusive one": async (world) => {
    const { server, endpoint, id } = world;
    await send(server, `Counter/${id}/hold`, `${id}-hold`);
    await endpoint.happens(`${id}-hold hold`);
    const meetings = [1, 2, 3].map(() => value(server, `Counter/${id}/meet`, id));
    await until("three of them", () => endpoint.count(`${id} meet`) >= 3);
    endpoint.release(id);
    expect(await Promise.all(meetings)).toEqual(["met", "met", "met"]);
    endpoint.release(`${id}-hold`);
    expect(await value(server, `Counter/${id}/add`, 1)).toBe(1);
  },

  "calls an object from a handler": async ({ server, id }) => {
    expect(await value(server, "Greeter/callCounter", { key: id, delta: 7 })).toBe(7);
    expect(await value(server, `Counter/${id}/get`)).toBe(7);
  },
};
