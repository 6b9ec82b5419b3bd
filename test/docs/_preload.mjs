// Loaded before the scripts of a page. Endpoints listen on the loopback interface only, and where Node
// is older than the SDK asks for, it is lent what it lacks.
import net from "node:net";

Promise.withResolvers ??= function () {
  let resolve, reject;
  const promise = new Promise((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
};

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (port, ...rest) {
  const isPortAlone = typeof port === "number" && typeof rest[0] !== "string";
  return isPortAlone
    ? listen.call(this, port, "127.0.0.1", ...rest)
    : listen.call(this, port, ...rest);
};
