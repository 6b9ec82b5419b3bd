import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Empty } from "./empty.tsx";

/**
 * A part of a page in a chunk of its own, for what is not seen at first: the page is there before it.
 * `load`: imports its module.
 */
export function partOf<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Part(props: Props) {
    const [isFailed, fail] = useState(false);
    const [, redraw] = useState(0);
    useEffect(() => {
      if (loaded) return;
      load().then((module) => {
        loaded = module.default;
        redraw(1);
      }, () => fail(true));
    }, []);
    // The server was replaced by another version, whose files have other names.
    if (isFailed) return <Empty title="This part could not be loaded. Load the page again." />;
    if (!loaded) return null;
    const Loaded = loaded;
    return <Loaded {...props} />;
  };
}
