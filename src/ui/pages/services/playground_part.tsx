import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Service } from "../../data/catalog.ts";

type Part = ComponentType<{ readonly service: Service }>;
let loaded: Part | undefined;

/** The playground, which is a chunk of its own: the page is there before it. */
export function PlaygroundPart({ service }: { readonly service: Service }) {
  const [, setCount] = useState(0);
  useEffect(() => {
    if (loaded) return;
    void import("./playground/playground.tsx").then((module) => {
      loaded = module.default;
      setCount((count) => count + 1);
    });
  }, []);
  if (!loaded) return null;
  const Playground = loaded;
  return <Playground service={service} />;
}
