/**
 * The endpoint broke a rule of HTTP/2 so that its connection cannot be used any longer. Thrown while
 * its bytes are read, and caught by `Connection`, which sends GOAWAY with the code.
 */
export class ConnectionError extends Error {
  override name = "ConnectionError";
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
