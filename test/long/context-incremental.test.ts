import { describe, expect, it } from "vitest";
import { checkScripts } from "../support/incremental-builds.ts";

// Guards: an incremental build has the bytes of a full one, whatever was done to the files.

const PORTION = 100;

describe("incremental builds after 1,000 random edit scripts", () => {
  it.each(Array.from({ length: 5 }, (_, i) => i))(
    "equal full builds while every file is fresh, portion %i",
    async (portion) => {
      const seeds = Array.from({ length: PORTION }, (_, i) => 10_000 + portion * PORTION + i);
      expect(await checkScripts("racy", seeds)).toMatchObject({ builds: 6 * PORTION });
    },
    600_000,
  );

  it.each(Array.from({ length: 5 }, (_, i) => i))(
    "equal full builds when files are trusted, portion %i",
    async (portion) => {
      const seeds = Array.from({ length: PORTION }, (_, i) => 20_000 + portion * PORTION + i);
      expect(await checkScripts("settled", seeds)).toMatchObject({ builds: 6 * PORTION });
    },
    600_000,
  );
});
