import process from "node:process";
import { type Context, RetryableError, serve, service } from "@restatedev/restate-sdk";

const BANK = process.env.BANK ?? "http://localhost:9081";

async function charge(payment: string): Promise<string> {
  const answer = await fetch(`${BANK}/charge/${payment}`, { method: "POST" });
  if (answer.status === 429) {
    // Others use the bank, too: where it refuses, it says when to ask again.
    const seconds = Number(answer.headers.get("retry-after") ?? 1);
    throw new RetryableError("The bank is busy", { retryAfter: { seconds } });
  }
  if (!answer.ok) throw new Error(`The bank answered ${answer.status}`);
  return (await answer.json()).receipt;
}

const payments = service({
  name: "Payments",
  handlers: {
    pay: (ctx: Context, payment: string): Promise<string> =>
      ctx.run("charge", () => charge(payment)),
  },
});

serve({ services: [payments] });
