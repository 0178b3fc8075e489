/**
 * Characters that a reader does not see, or that change what is seen: direction controls, characters without width, and
 * control characters other than tab. A carriage return counts unless it ends the line.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|\r(?!$)|[\u{e0000}-\u{e0fff}]/u;

/** Whether a line hides something from whoever reads it. */
export function hidesCharacters(line: string): boolean {
  return HIDDEN.test(line);
}
