import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type FastResponse, sendNodeResponse } from "srvx/node";

/**
 * A body of up to so many bytes is sent as text, which Node writes together with the head, by one call of
 * the system and without a list of pieces. A longer one is not worth the copy.
 */
const TEXT_BYTES_MAX = 4 * 1024;

type Prepared = ReturnType<FastResponse["_toNodeResponse"]>;

/**
 * Sends an answer. One over HTTP/1.1 whose body is at hand leaves in one write and without a promise; any
 * other is sent by `srvx`, which follows a body that is a stream. Rejects, or throws, with Node's error when
 * a header cannot be sent.
 */
export function sendAnswer(
  response: ServerResponse<IncomingMessage>,
  answer: Response,
): void | Promise<void> {
  if (!("_toNodeResponse" in answer)) return sendNodeResponse(response, answer);
  const prepared = (answer as FastResponse)._toNodeResponse();
  const { body } = prepared;
  const isAtHand = body === undefined || typeof body === "string" || body instanceof Uint8Array;
  if (isAtHand && response.req.httpVersionMajor === 1) return sendAtOnce(response, prepared, body);
  return sendNodeResponse(response, { _toNodeResponse: () => prepared } as FastResponse);
}

function sendAtOnce(
  response: ServerResponse,
  { status, headers }: Prepared,
  body: string | Uint8Array | undefined,
): void {
  response.writeHead(status, headers);
  if (body === undefined) response.end();
  else if (typeof body === "string") response.end(body);
  else if (body.length > TEXT_BYTES_MAX) response.end(body);
  else response.end(latin1(body), "latin1");
}

/** A character for each byte, which Node turns into the same bytes again. */
function latin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}
