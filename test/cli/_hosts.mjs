// Has every name lead to this machine, as the owner of a name may.
import dns from "node:dns";

dns.lookup = (_name, options, callback) => {
  const done = typeof options === "function" ? options : callback;
  if (options?.all) return done(null, [{ address: "127.0.0.1", family: 4 }]);
  done(null, "127.0.0.1", 4);
};
