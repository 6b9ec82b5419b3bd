import { partOf } from "../../widgets/part.tsx";
import type { Tab } from "../../widgets/tabs.tsx";
import type { Whole } from "./data.ts";
import { Errors } from "./errors.tsx";
import { InputOutput } from "./input_output.tsx";
import { Journal } from "./journal.tsx";
import { Raw } from "./raw.tsx";
import { Travel } from "./travel/travel.tsx";

const Calls = partOf(() => import("./calls/calls.tsx"));

const STATE_CHANGES = ["SetState", "ClearState", "ClearAllState"];

/** What is known of an invocation, by tabs. `everyMs`: how often they ask again. */
export function tabsOf(row: Whole, everyMs: number): readonly Tab[] {
  return [
    { id: "journal", title: "Journal", content: () => <Journal row={row} everyMs={everyMs} /> },
    {
      id: "errors",
      title: "Attempts and errors",
      content: () => <Errors row={row} everyMs={everyMs} />,
    },
    {
      id: "io",
      title: "Input and output",
      content: () => <InputOutput row={row} everyMs={everyMs} />,
    },
    {
      id: "state",
      title: "State changes",
      content: () => <Journal row={row} everyMs={everyMs} types={STATE_CHANGES} />,
    },
    {
      id: "travel",
      title: "Time travel",
      content: () => <Travel row={row} everyMs={everyMs} />,
    },
    { id: "calls", title: "Call tree", content: () => <Calls key={row.id} row={row} /> },
    { id: "raw", title: "Raw and export", content: () => <Raw row={row} everyMs={everyMs} /> },
  ];
}
