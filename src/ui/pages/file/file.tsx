import { Component, type ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Empty } from "../../widgets/empty.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { Page } from "../../widgets/page.tsx";
import { partOf } from "../../widgets/part.tsx";
import {
  FILE_BYTES_MAX,
  FileError,
  type InvocationFile,
  parseFile,
} from "../invocation/export/file.ts";

/** What shows an invocation is needed once a file is chosen. */
const Shown = partOf(() => import("./shown.tsx"));

interface Chosen {
  readonly name: string;
  readonly file?: InvocationFile;
  /** Why it cannot be opened. */
  readonly problem?: string;
}

/** Shows an invocation of another installation, from a file. Nothing of it is sent anywhere. */
export default function FilePage() {
  const [chosen, choose] = useState<Chosen>();
  return (
    <Page title="Open a file">
      <Drop onFile={(file) => void chosenOf(file).then(choose)} />
      {chosen?.problem !== undefined && <Problem name={chosen.name} text={chosen.problem} />}
      {chosen?.file && (
        <Boundary key={`${chosen.name} ${chosen.file.exported_at}`} name={chosen.name}>
          <Shown file={chosen.file} name={chosen.name} />
        </Boundary>
      )}
      {!chosen && (
        <Empty title="No file is open.">
          <p>An invocation is saved as a file on its page, in the tab “Raw and export”.</p>
        </Empty>
      )}
    </Page>
  );
}

/** Takes a file by its dialog, or dropped. */
function Drop({ onFile }: { readonly onFile: (file: File) => void }) {
  const [isOver, setOver] = useState(false);
  const open = (file: File | undefined) => file && onFile(file);
  const onDrag = (event: DragEvent, isIn: boolean) => {
    event.preventDefault();
    setOver(isIn);
  };
  return (
    <div
      class={isOver ? "drop over" : "drop"}
      onDragOver={(event) => onDrag(event, true)}
      onDragLeave={(event) => onDrag(event, false)}
      onDrop={(event) => {
        onDrag(event, false);
        open(event.dataTransfer?.files[0]);
      }}
    >
      <label>
        A file of an invocation{" "}
        <input
          type="file"
          accept=".json,application/json"
          onChange={({ currentTarget }) => open(currentTarget.files?.[0])}
        />
      </label>
      <p class="quiet">Choose it or drop it here. It stays in this browser.</p>
    </div>
  );
}

async function chosenOf(chosen: File): Promise<Chosen> {
  const { name, size } = chosen;
  if (size > FILE_BYTES_MAX) {
    const problem = `Cannot open the file: it has more than ${FILE_BYTES_MAX / 1024 ** 2} MiB`;
    return { name, problem };
  }
  try {
    return { name, file: parseFile(await chosen.text()) };
  } catch (cause) {
    const problem = cause instanceof FileError ? cause.message : `Cannot open the file: ${cause}`;
    return { name, problem };
  }
}

function Problem({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div class="failed-box" role="alert">
      <Icon name="warning" />
      <span class="text">
        <bdi>{name}</bdi>: {text}
      </span>
    </div>
  );
}

/** Shows what is wrong instead of parts that cannot be shown: values in a file may have any shape. */
class Boundary extends Component<
  { readonly name: string; readonly children: ComponentChildren },
  { readonly problem?: string }
> {
  static override getDerivedStateFromError(cause: unknown) {
    return { problem: `Cannot show the file: an entry is damaged (${cause})` };
  }

  override render() {
    const { problem } = this.state;
    if (problem === undefined) return this.props.children;
    return <Problem name={this.props.name} text={problem} />;
  }
}
