/** The files of the UI as the last build wrote them: `npm run build`, or `deno task ui`. */
export { built } from "../../dist/ui_assets.ts";
