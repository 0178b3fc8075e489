import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { OutputLog } from "./run-output.ts";

function print(limit: number, ...parts: string[]): { readonly kept: string; readonly file: string } {
  const log = new OutputLog(nodeCrypto, limit);
  for (const part of parts) log.add(encodeUtf8(part));
  const read = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { kept: read(log.kept()), file: read(log.finish()) };
}

it("what a command prints is kept whole up to the limit, without a mark", () => {
  expect(print(6, "abc", "", "def")).toEqual({ kept: "abcdef", file: "abcdef" });
  expect(print(6)).toEqual({ kept: "", file: "" });
});

it("beyond the limit the first part is kept, and the rest is counted and hashed", () => {
  const sha256 = createHash("sha256").update("abcdefgh").digest("hex");
  const mark = `\n[verbatim: 3 more bytes, 8 in all, sha256 ${sha256}]\n`;
  expect(print(5, "abc", "def", "gh")).toEqual({ kept: "abcde", file: `abcde${mark}` });
});
