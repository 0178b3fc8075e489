import { describe, expect, it } from "vitest";
import { checkScripts } from "../support/incremental-builds.ts";

// Guards: an incremental build has the bytes of a full one, whatever was done to the files (1,000 scripts in test/long).

const seeds = (from: number) => Array.from({ length: 30 }, (_, i) => from + i);

describe("incremental builds after random edits", () => {
  it("equal full builds while every file is too fresh to be trusted", async () => {
    expect(await checkScripts("racy", seeds(1))).toMatchObject({ builds: 180 });
  });

  it("equal full builds when files are trusted by their facts", async () => {
    expect(await checkScripts("settled", seeds(1000))).toMatchObject({ builds: 180 });
  });
});
