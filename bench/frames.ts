import type { Page } from "playwright-core";
import { quantileOf } from "./harness.ts";

const BEST_OF = 3;
const WHEEL_TURNS = 120;
const WHEEL_PX = 500;

/** In the page: how long each frame took, and a scrollbar that is dragged to the end and back, a part of the way each frame. */
export const FRAME_RECORDER = `
window.recordFrames = () => {
  const frames = [];
  let last = performance.now();
  let goes = true;
  const tick = (now) => {
    frames.push(now - last);
    last = now;
    if (goes) requestAnimationFrame(tick);
  };
  requestAnimationFrame((now) => { last = now; requestAnimationFrame(tick); });
  window.endFrames = () => { goes = false; return frames; };
};
window.drag = (steps) => new Promise((resolve) => {
  const end = document.documentElement.scrollHeight - innerHeight;
  let n = 0;
  const step = () => {
    const part = n < steps ? n / steps : 2 - n / steps;
    scrollTo(0, end * Math.max(part, 0));
    if (n++ < 2 * steps) requestAnimationFrame(step);
    else resolve();
  };
  requestAnimationFrame(step);
});`;

/**
 * Scrolls with the wheel and by dragging, three times each. What it gives back is at most 50 ms exactly when no frame of the best
 * time was longer and at most one in a hundred of all of them.
 */
export async function measureFrames(page: Page, name: string): Promise<{ readonly took_ms: number }> {
  const took: number[] = [];
  for (const [way, scroll] of [
    ["wheel", turnWheel],
    ["drag", (at: Page) => at.evaluate("drag(90)")],
  ] as const) {
    const times: number[][] = [];
    for (let n = 0; n < BEST_OF; n++) {
      await page.evaluate("scrollTo(0, 0)");
      await page.waitForTimeout(300);
      await page.evaluate("recordFrames()");
      await scroll(page);
      times.push(await page.evaluate<number[]>("endFrames()"));
    }
    const all = times.flat();
    const best = Math.min(...times.map((frames) => Math.max(...frames)));
    const slow = all.filter((ms) => ms > 50).length;
    const part = ((slow / all.length) * 100).toFixed(1);
    console.error(
      `${name}, ${way}: ${slow} of ${all.length} frames over 50 ms (${part} %), longest ${Math.max(...all).toFixed(0)} ms, in the best of ${BEST_OF} ${best.toFixed(0)} ms`,
    );
    took.push(best, quantileOf(all, 0.99));
  }
  return { took_ms: Math.max(...took) };
}

async function turnWheel(page: Page): Promise<void> {
  await page.mouse.move(640, 500);
  for (let n = 0; n < WHEEL_TURNS; n++) await page.mouse.wheel(0, WHEEL_PX);
}
