import { AsyncResource } from "node:async_hooks";

/**
 * Makes `AsyncResource.bind` cheap on Node 20 (decision 028). To be called once, before the first
 * endpoint is dialed. Node's HTTP/2 client binds a function for each request, and Node 20 defines a
 * deprecated property on each of them, which costs a seventh of a whole call.
 */
export function bindCheaply(version: string): void {
  const [major = 0] = version.split(".").map(Number);
  if (major > 20) return;
  const bind = function <F extends (...args: never[]) => unknown>(
    this: AsyncResource,
    call: F,
    thisArg?: unknown,
  ) {
    const run = (self: unknown, args: unknown[]) =>
      this.runInAsyncScope(call as never, thisArg ?? self, ...args);
    return function (this: unknown, ...args: unknown[]) {
      return run(this, args);
    };
  };
  AsyncResource.prototype.bind = bind as unknown as AsyncResource["bind"];
}
