import { describe, expect, it } from "vitest";
import { fixture, told } from "./_fixture.ts";

const limit = ': a body has at most 10 bytes (setting "ingress.request-size-limit")';

const asJson = { "content-type": "application/json" };

describe("bodies above the limit", () => {
  const limited = () => fixture({ bodyBytesMax: 10 });
  const stream = (chunks: number) =>
    new ReadableStream({
      pull(controller) {
        if (chunks-- > 0) controller.enqueue(new Uint8Array(5));
        else controller.close();
      },
    });

  it("are refused by their declared length", async () => {
    const headers = { ...asJson, "content-length": "11" };
    const response = await limited().ask("POST", "/svc/call/Svc/opt", { headers });
    expect(response.headers.get("x-svc-error-source")).toBe("ingress");
    expect(await told(response)).toEqual([
      413,
      { code: 413, message: `length limit exceeded${limit}`, source: "ingress" },
    ]);
  });

  it("are refused as they come", async () => {
    const { ask, invocations } = limited();
    const response = await ask("POST", "/svc/call/Svc/opt", { headers: asJson, body: stream(1e9) });
    expect(response.headers.get("x-svc-error-source")).toBe("ingress");
    expect(await told(response)).toEqual([
      413,
      { code: 413, message: `cannot read body: LengthLimitError${limit}`, source: "ingress" },
    ]);
    const fits = await ask("POST", "/svc/call/Svc/opt", { headers: asJson, body: stream(2) });
    expect(fits.status).toBe(200);
    expect(invocations.calls[0]?.value).toHaveLength(10);
  });

  it("are refused when they are longer than declared", async () => {
    const headers = { ...asJson, "content-length": "5" };
    const body = "12345678901";
    expect((await limited().ask("POST", "/svc/call/Svc/opt", { headers, body })).status).toBe(413);
  });

  it("a body that breaks off is the caller's", async () => {
    const { ask, logged } = limited();
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
    const response = await ask("POST", "/svc/call/Svc/opt", { headers: asJson, body });
    expect(await told(response)).toEqual([
      500,
      { code: 500, message: "cannot read body: the request was cut short", source: "ingress" },
    ]);
    expect(logged).toEqual([]);
  });
});
