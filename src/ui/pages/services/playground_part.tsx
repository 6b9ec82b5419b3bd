import { partOf } from "../../widgets/part.tsx";

/** The playground, which is a chunk of its own. */
export const PlaygroundPart = partOf(() => import("./playground/playground.tsx"));
