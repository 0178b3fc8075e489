import { expect, it } from "vitest";
import { CommandOutput } from "./terminal.ts";

it.each([
  ["a line that is finished", ["done\n"], "done\n"],
  ["a line that is not", ["do", "ne"], "done\n"],
  ["colours after the last line feed", ["done\n", "\u001b[0m\u001b[?25h"], "done\n\u001b[0m\u001b[?25h"],
  ["colours after a line that is not finished", ["done\u001b[0m"], "done\u001b[0m\n"],
  ["a line that was wiped", ["50 %\r\u001b[K"], "50 %\r\u001b[K"],
  ["nothing at all", [""], ""],
])("what is said after %s begins on a line of its own, and is said once", (_, parts, shown) => {
  let written = "";
  const target = { write: (bytes: Uint8Array | string) => (written += Buffer.from(bytes as Uint8Array).toString()) };
  const output = new CommandOutput();
  for (const part of parts) output.write(target, Buffer.from(part));
  output.endLine();
  output.endLine();
  expect(written).toBe(shown);
});
