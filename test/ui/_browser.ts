import { hasChromium, openChromium, PROGRAM } from "../support/chromium.mjs";
import { missing } from "../support/fetched.ts";

/** Why no page can be opened: then these tests are skipped. Throws where tools are required. */
export const hasBrowser = hasChromium ||
  missing("the tests of the UI", `there is no ${PROGRAM}`) !== undefined;

/** One browser for all tests of a file. */
export const openBrowser = (): ReturnType<typeof openChromium> => openChromium();
