// What an operator does while handlers wait, and what is seen of it.

/** Steps that the checks share. */
const stepsOf = ({ send, until, attach, journal, manage, inStatus }) => ({
  begun: async (target, body, entry) => {
    const id = await send(target, body);
    const isThere = async () => (await journal(id)).some((line) => line.includes(entry));
    await until(`${target} to wait`, isThere);
    return id;
  },
  verb: async (id, name) => (await manage(`invocations/${id}/${name}`)).status,
  ended: async (id) => {
    const answer = await attach(id);
    const { status } = await inStatus(id, "completed");
    return { answer, status, journal: await journal(id) };
  },
});

const canceling = (world) => {
  const { key, send, until, attach, journal } = world;
  const { begun, verb, ended } = stepsOf(world);
  return {
    "cancel a nap": async () => {
      const id = await begun("TsPlain/naps", 600_000, "Sleep");
      return [await verb(id, "cancel"), await ended(id)];
    },
    "cancel with compensation": async () => {
      const id = await begun("TsPlain/compensates", key("undo"), "Notification: Call");
      const canceled = await verb(id, "cancel");
      const { journal, ...end } = await ended(id);
      // What was called may tell of its end before or after the handler's.
      return [canceled, end, journal.filter((line) => line !== "Notification: Call")];
    },
    "cancel, seen explicitly": async () => {
      const id = await send("TsExplicit/waits");
      await until("it to wait", async () => {
        const lines = await journal(id);
        return lines.some((line) => /Notification: Call|Output/.test(line));
      });
      return [await verb(id, "cancel"), await ended(id)];
    },
    "kill": async () => {
      const id = await begun("TsPlain/naps", 600_000, "Sleep");
      return [await verb(id, "kill"), await attach(id)];
    },
  };
};

const restarting = (world) => {
  const { told, call, key, query, until, send, manage, inStatus } = world;
  const { begun, verb, ended } = stepsOf(world);
  return {
    "pause and resume": async () => {
      const id = await begun("TsPlain/naps", 1500, "Sleep");
      const paused = await verb(id, "pause");
      await inStatus(id, "paused", "completed");
      return [paused, await verb(id, "resume"), await ended(id)];
    },
    "restart": async () => {
      const first = await told("TsPlain/naps", 5);
      const { id } = await call("TsPlain/naps", 5);
      await inStatus(id, "completed");
      const again = await manage(`invocations/${id}/restart-as-new`);
      const from = await manage(`invocations/${id}/restart-as-new?from=1`);
      const ends = [];
      for (const { body } of [again, from]) {
        ends.push(body.new_invocation_id ? await ended(body.new_invocation_id) : body);
      }
      return [first, again.status, from.status, ends];
    },
    "awakeable from outside": async () => {
      const id = await send("TsPlain/awaits", key("awake"));
      const object = `TsObject/${key("awake")}/get`;
      const name = await until("its id", async () => (await call(object, "id")).body);
      return [name.slice(0, 6), id.slice(0, 5), await verb(id, "cancel"), await ended(id)];
    },
    "row": async () => {
      const { id } = await call("TsPlain/flaky", { key: key("row"), failures: 1 });
      await inStatus(id, "completed");
      const [{ last_attempt_server: sdk, ...row }] = await query(
        `SELECT target, target_service_ty, status, completion_result, journal_size, retry_count,
         pinned_service_protocol_version, last_attempt_server FROM sys_invocation WHERE id = '${id}'`,
      );
      return { ...row, sdk: sdk?.replace(/\/.*/, "") };
    },
  };
};

export const operating = [canceling, restarting];
