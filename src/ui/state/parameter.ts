import { useEffect, useRef, useState } from "preact/hooks";
import { place, setQuery } from "./router.ts";

/** The address follows after so many ms: browsers refuse more than some hundred changes in a row. */
const ADDRESS_MS = 150;

/**
 * A parameter of the query that may change at each key, and how it is set. What is shown is ahead of
 * the address while it changes. The empty text: the address does not have it.
 */
export function useParameter(name: string): readonly [string, (text: string) => void] {
  const [ahead, setAhead] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const set = (text: string) => {
    const { path } = place.peek();
    setAhead(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      // Another page has parameters of its own.
      if (place.peek().path === path) setQuery({ [name]: text });
      setAhead(undefined);
    }, ADDRESS_MS);
  };
  return [ahead ?? place.value.query.get(name) ?? "", set];
}
