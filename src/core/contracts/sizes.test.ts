import { expect, it } from "vitest";
import { readSize } from "./sizes.ts";

it.each([
  ["1048576", 1_048_576],
  ["500kB", 500_000],
  ["2MiB", 2 * 1024 ** 2],
  ["20GB", 20_000_000_000],
  ["8G", 8 * 1024 ** 3],
  ["999999999999GB", null],
  ["2 MB", null],
  ["", null],
  ["-1", null],
  ["1e3", null],
  ["80%", null],
])("%j is %s bytes", (text, bytes) => {
  expect(readSize(text)).toBe(bytes);
});
