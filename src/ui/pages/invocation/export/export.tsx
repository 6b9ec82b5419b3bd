import { useMemo, useState } from "preact/hooks";
import { messageOf } from "../../../data/commands.ts";
import { toast } from "../../../state/toasts.ts";
import { Check } from "../../../widgets/check.tsx";
import { save } from "../../../widgets/save.ts";
import { useJournal, type Whole } from "../data.ts";
import { useOpened } from "../opened.ts";
import { stepsOf } from "../steps.ts";
import { useWaterfall } from "../waterfall.tsx";
import { FileError } from "./file.ts";
import { readFile } from "./read.ts";
import { waterfallSvg } from "./svg.ts";

interface Props {
  readonly row: Whole;
  readonly everyMs: number;
}

/** Saves an invocation as a file that any installation opens, and its waterfall as a picture. */
export default function Export({ row, everyMs }: Props) {
  const isFile = useOpened() !== undefined;
  return (
    <div class="row">
      {!isFile && <SaveFile row={row} />}
      <SaveSvg row={row} everyMs={everyMs} />
      {!isFile && <a href="file">Open a file</a>}
    </div>
  );
}

function SaveFile({ row }: Pick<Props, "row">) {
  const [hasValues, setValues] = useState(true);
  const [isReading, setReading] = useState(false);
  const onSave = async () => {
    setReading(true);
    await saveAs(row, hasValues);
    setReading(false);
  };
  return (
    <>
      <button type="button" disabled={isReading} onClick={() => void onSave()}>
        Save as a file
      </button>
      <Check isOn={hasValues} onSet={setValues}>with values: inputs, results, states</Check>
    </>
  );
}

function SaveSvg({ row, everyMs }: Props) {
  const { data: journal = [] } = useJournal(row.id, everyMs);
  const steps = useMemo(() => stepsOf(journal), [journal]);
  const { whole: line, failures } = useWaterfall(row, steps, everyMs);
  const title = `${row.target} ${row.id}`;
  const onSave = () =>
    save(`${row.id}.svg`, "image/svg+xml", waterfallSvg({ title, steps, line, failures }));
  return (
    <button type="button" disabled={steps.length === 0} onClick={onSave}>
      Save the waterfall as SVG
    </button>
  );
}

async function saveAs(row: Whole, hasValues: boolean): Promise<void> {
  try {
    save(`${row.id}.json`, "application/json", await readFile(row, hasValues));
  } catch (cause) {
    toast("failed", cause instanceof FileError ? cause.message : messageOf(cause));
  }
}
