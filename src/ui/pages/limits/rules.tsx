import { useState } from "preact/hooks";
import { api } from "../../data/client.ts";
import { change } from "../../data/act.ts";
import { EVERY_MS, useQuery } from "../../data/hooks.ts";
import { Check } from "../../widgets/check.tsx";
import { Confirm } from "../../widgets/dialog.tsx";
import { durationMs } from "../../widgets/duration.ts";
import { EditAndDelete } from "../../widgets/edit_and_delete.tsx";
import { Failed } from "../../widgets/empty.tsx";
import { FormDialog, TextField } from "../../widgets/form_dialog.tsx";
import { type Column, Table } from "../../widgets/table.tsx";
import { Ago } from "../../widgets/time.tsx";
import { LimitFields, limitsBody, NO_LIMITS, rateText, typedOf } from "./limit_fields.tsx";
import { ROWS_MAX, type RuleRow, rulesStatement } from "./statements.ts";

type Open = { readonly kind: "edit" | "delete"; readonly rule: RuleRow } | { readonly kind: "add" };

/** The rule book: each rule gives limits to scopes and limit keys. */
export function Rules() {
  const rules = useQuery<RuleRow>(rulesStatement(), {
    everyMs: EVERY_MS.list,
    about: "configuration",
  });
  const [open, set] = useState<Open>();
  const close = () => set(undefined);
  return (
    <section aria-labelledby="rules">
      <div class="row">
        <h2 id="rules">Rules</h2>
        <button type="button" onClick={() => set({ kind: "add" })}>Add a rule…</button>
      </div>
      {rules.error && <Failed error={rules.error} onRetry={rules.refresh} />}
      {rules.data?.length === 0 && <p class="quiet">There is no rule: scopes have no limits.</p>}
      {rules.data && rules.data.length > 0 && (
        <Table
          caption="Rules"
          columns={columnsOf(set)}
          rows={rules.data}
          idOf={({ pattern }) => pattern}
        />
      )}
      {rules.data?.length === ROWS_MAX && <p class="quiet">These are the first {ROWS_MAX}.</p>}
      {open?.kind === "add" && <RuleDialog onClose={close} />}
      {open?.kind === "edit" && <RuleDialog rule={open.rule} onClose={close} />}
      {open?.kind === "delete" && <DeleteRule rule={open.rule} onClose={close} />}
    </section>
  );
}

function rateOf({ rate_count: count, rate_period: period, rate_burst: burst }: RuleRow) {
  return count === undefined || period === undefined ? undefined : { count, period, burst };
}

function columnsOf(open: (open: Open) => void): readonly Column<RuleRow>[] {
  const actions = (rule: RuleRow) => (
    <EditAndDelete
      name={rule.pattern}
      onEdit={() => open({ kind: "edit", rule })}
      onDelete={() => open({ kind: "delete", rule })}
    />
  );
  return [
    {
      id: "pattern",
      title: "Pattern",
      isHeader: true,
      cell: ({ pattern }) => (
        <code>
          <bdi>{pattern}</bdi>
        </code>
      ),
    },
    { id: "at-once", title: "At once", isNumber: true, cell: (rule) => rule.concurrency ?? "any" },
    {
      id: "rate",
      title: "Starts",
      cell: (rule) => {
        const rate = rateOf(rule);
        return rate ? rateText(rate) : "any";
      },
    },
    { id: "on", title: "Effect", cell: ({ disabled }) => disabled ? "disabled" : "on" },
    { id: "about", title: "Description", cell: (rule) => <bdi>{rule.description}</bdi> },
    { id: "version", title: "Version", isNumber: true, cell: ({ version }) => String(version) },
    { id: "changed", title: "Changed", cell: ({ last_modified: at }) => <Ago at={at} /> },
    { id: "actions", title: "Actions", cell: actions },
  ];
}

/** Edits a rule as it was read: if somebody else has changed it since, the server refuses it. */
function RuleDialog({ rule, onClose }: {
  readonly rule?: RuleRow;
  readonly onClose: () => void;
}) {
  const [pattern, setPattern] = useState(rule?.pattern ?? "");
  const [description, describe] = useState(rule?.description ?? "");
  const [isDisabled, disable] = useState(rule?.disabled ?? false);
  const [limits, limit] = useState(rule ? typedRule(rule) : NO_LIMITS);
  const send = () => {
    const precondition = rule
      ? { type: "matches", version: rule.version }
      : { type: "does_not_exist" };
    const common = { pattern, limits: limitsBody(limits), disabled: isDisabled, precondition };
    const body = [{ ...common, ...(description !== "" && { description }) }];
    return api("limits/rules", { method: "PUT", body });
  };
  return (
    <FormDialog
      title={rule ? "Edit a rule" : "Add a rule"}
      action={rule ? "Save" : "Add"}
      onSend={send}
      onClose={onClose}
    >
      <TextField
        label="Pattern"
        hint="A scope, and up to two levels of a limit key: acme, acme/*, */batch"
        value={pattern}
        onChange={setPattern}
        isLocked={rule !== undefined}
      />
      <LimitFields limits={limits} onChange={limit} />
      <TextField label="Description" value={description} onChange={describe} />
      <Check isOn={isDisabled} onSet={disable}>Disabled: kept, without an effect</Check>
    </FormDialog>
  );
}

function typedRule(rule: RuleRow) {
  const { rate_count: count, rate_period: period, rate_burst: burst } = rule;
  return typedOf({
    concurrency: rule.concurrency,
    ...(count !== undefined && period !== undefined && {
      rate: {
        count: Number(count),
        period: periodOf(period),
        ...(burst !== undefined && { burst: Number(burst) }),
      },
    }),
  });
}

/** As it is typed: SQL has ISO 8601. */
function periodOf(iso: string): string {
  const ms = durationMs(iso);
  return ms === undefined ? iso : `${ms}ms`;
}

function DeleteRule({ rule: { pattern, version }, onClose }: {
  readonly rule: RuleRow;
  readonly onClose: () => void;
}) {
  const remove = () => {
    const body = [{ pattern, expected_version: version }];
    void change(
      "limits/rules/bulk-delete",
      { method: "POST", body },
      `Deleted the rule ${pattern}`,
    );
  };
  return (
    <Confirm title="Delete the rule" action="Delete" onConfirm={remove} onClose={onClose}>
      The rule <bdi>{pattern}</bdi> is deleted, if it still has the version{" "}
      {String(version)}. Another rule may apply then, or no limit.
    </Confirm>
  );
}
