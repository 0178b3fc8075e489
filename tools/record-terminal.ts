import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawTerminal } from "./recording/drawing.ts";
import { recordSession, whyNoRecording } from "./recording/session.ts";
import { ROOT } from "./stages.ts";

// Makes the picture of README.md from a real session with the program as it was built: npm run build && npm run docs:picture.
// test/surface/recording.test.ts records it again and compares the words.

const why = whyNoRecording();
if (why !== null) throw new Error(`the session cannot be recorded here: ${why}`);
const rows = await recordSession();
const title = "A terminal: an agent's change is captured, gated and verified, then applied with one key";
for (const theme of ["light", "dark"] as const) {
  const file = `docs/images/terminal-${theme}.svg`;
  writeFileSync(join(ROOT, file), drawTerminal(rows, theme, title));
  console.log(`wrote ${file}`);
}
