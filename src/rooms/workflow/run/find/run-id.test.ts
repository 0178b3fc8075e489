import { expect, it } from "vitest";
import { toRepoSlug } from "./repo-slug.ts";
import { isRunId, makeRunId } from "./run-id.ts";

it("a name of a run is a short plain word that every system can have as a folder", () => {
  for (const text of ["a", "A.b-c_9", "x".repeat(64), "console", "com0", "com10", "lpt", "a.con"]) {
    expect([text, isRunId(text)]).toEqual([text, true]);
  }
  for (const text of ["", ".a", "-a", "a.", "x".repeat(65), "a/b", "a b", "ä", "con", "NUL.txt", "Com1", "lpt9.a.b"]) {
    expect([text, isRunId(text)]).toEqual([text, false]);
  }
});

it("the name a run gets is its time and six digits", () => {
  const bytes = Uint8Array.of(0x0a, 0xff, 0x03, 0x99);
  expect(makeRunId(Date.UTC(2026, 0, 2, 3, 4, 5, 678), bytes)).toBe("20260102-030405-0aff03");
});

it("the folder of a repository has its name where that is plain, and otherwise one that says which it is", () => {
  const sha256 = (text: string) => `${text.length}`.padStart(8, "0").padEnd(64, "f");
  expect(
    ["app", "My.App", "x".repeat(64), "x".repeat(65), "my app", "--a--", "a--b", "con", "", "ü"].map((name) =>
      toRepoSlug(name, sha256),
    ),
  ).toEqual([
    "app",
    "my.app",
    "x".repeat(64),
    `${"x".repeat(48)}-00000065`,
    "my-app-00000006",
    "a-00000005",
    "a-b-00000004",
    "con-00000003",
    "repo-00000000",
    "repo-00000001",
  ]);
  expect(toRepoSlug("a", sha256)).toBe("a");
  expect(toRepoSlug(`${"x".repeat(47)}-${"y".repeat(20)}`, sha256)).toBe(`${"x".repeat(47)}-00000068`);
});
