import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runGuide } from "../support/guide.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";

const postgres = await usePostgres();
const page = readFileSync(new URL("../../docs/guides/team.md", import.meta.url), "utf8");

describe("docs/guides/team.md", needs(postgres.reason), () => {
  it("is true from the first command to the last", { timeout: 300_000 }, async () => {
    const database = await postgres.createDatabase({ empty: true });
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "verbatim-team-guide-")));
    try {
      const env = {
        VERBATIM_DATABASE_URL: database.url,
        VERBATIM_GIT_PATHS: "1",
        VERBATIM_STATE: join(folder, "state"),
      };
      const notes = /^created .*\.verbatim\n/gm;
      expect(runGuide(page, folder, "harbour", { env, notes })).toBe(17);
    } finally {
      rmSync(folder, { recursive: true, force: true });
      await database.drop();
    }
  });
});
