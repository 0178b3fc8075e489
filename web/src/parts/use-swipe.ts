import { type TouchEvent, useRef } from "react";

/** Shorter ones, and those that go up or down as much, are taps and scrolling. */
const LEAST_PX = 48;

/**
 * Handlers for a part that a finger moves to its neighbour: 1 is the next one, -1 the one before. Whoever uses it has a control
 * that does the same without a finger.
 */
export function useSwipe(step: (by: 1 | -1) => void) {
  const start = useRef<{ readonly x: number; readonly y: number } | null>(null);
  return {
    onTouchStart({ touches }: TouchEvent) {
      const touch = touches.length === 1 ? touches[0]! : null;
      start.current = touch === null ? null : { x: touch.clientX, y: touch.clientY };
    },
    onTouchEnd({ changedTouches }: TouchEvent) {
      const [from, to] = [start.current, changedTouches[0]];
      start.current = null;
      if (from === null || to === undefined) return;
      const [dx, dy] = [to.clientX - from.x, to.clientY - from.y];
      if (Math.abs(dx) >= LEAST_PX && Math.abs(dx) > 2 * Math.abs(dy)) step(dx < 0 ? 1 : -1);
    },
    onTouchCancel() {
      start.current = null;
    },
  };
}
