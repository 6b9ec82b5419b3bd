import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { settings } from "../state/settings.ts";

/** Heights of a row, as in `css/table.css`. */
const ROW_PX = { dense: 32, comfortable: 44 } as const;
/** Rows beyond the view that are in the document, so that scrolling shows no gap. */
const BEYOND = 8;

/** The rows from `from` up to `to` are in view, or almost. */
export interface View {
  readonly from: number;
  readonly to: number;
  readonly rowPx: number;
}

/** Which of `count` rows of equal height are in view. The page scrolls, not the table. */
export function useWindow(body: RefObject<HTMLElement | null>, count: number): View {
  const rowPx = ROW_PX[settings.value.density];
  const [[from, to], set] = useState<readonly [number, number]>([0, BEYOND * 3]);
  useEffect(() => {
    let frame = 0;
    const measure = () => {
      frame = 0;
      const top = body.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowPx) - BEYOND);
      const last = first + Math.ceil(innerHeight / rowPx) + 2 * BEYOND;
      set((was) => was[0] === first && was[1] === last ? was : [first, last]);
    };
    const plan = () => {
      if (frame === 0) frame = requestAnimationFrame(measure);
    };
    measure();
    addEventListener("scroll", plan, { passive: true });
    addEventListener("resize", plan);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", plan);
      removeEventListener("resize", plan);
    };
  }, [rowPx, count]);
  const end = Math.min(to, count);
  return { from: Math.min(from, end), to: end, rowPx };
}
