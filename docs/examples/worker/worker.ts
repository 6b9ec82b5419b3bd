interface Env {
  /** Where callers reach the server. */
  readonly PERDURE: string;
}

/**
 * A Worker in front: it answers at once, and what takes long is durable. `POST /signups` starts it, and
 * `GET /signups/<id>` waits for it. The key makes a signup that is sent twice one.
 */
export default {
  async fetch(request: Request, { PERDURE }: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (request.method === "POST" && pathname === "/signups") {
      const { mail } = await request.json() as { readonly mail: string };
      const sent = await fetch(`${PERDURE}/svc/send/Signups/welcome`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": mail },
        body: JSON.stringify({ mail }),
      });
      if (!sent.ok) return new Response("Try again", { status: 503 });
      const { invocationId } = await sent.json() as { readonly invocationId: string };
      return Response.json({ result: `/signups/${invocationId}` }, { status: 202 });
    }
    const id = /^\/signups\/(\w+)$/.exec(pathname)?.[1];
    if (id === undefined) return new Response("Not found", { status: 404 });
    return await fetch(`${PERDURE}/svc/attach/${id}`);
  },
};
