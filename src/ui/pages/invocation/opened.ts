import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Used } from "../../data/hooks.ts";
import type { InvocationFile } from "./export/file.ts";

/** The file that is shown instead of what the server has. Undefined: none is. */
export const Opened = createContext<InvocationFile | undefined>(undefined);

/** The file that is shown, if one is. Then nothing asks the server. */
export function useOpened(): InvocationFile | undefined {
  return useContext(Opened);
}

/** What a file has, in the form of an answer. */
export function usedOf<T>(data: T): Used<T> {
  return { data, isLoading: false, refresh: () => {} };
}
