import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createContentStore } from "../../src/adapters/disk/durable/content-store.ts";
import { buildChild, type ChildProgram } from "../support/child.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { needs } from "../support/needs.ts";
import { findClosedFolder, SOMEBODY } from "../support/somebody.ts";

// Root may write anywhere, so the writer is then another user, who could not even load below a closed folder.
const CLOSED = findClosedFolder(process.cwd());

describe(
  "a folder that may not be written",
  needs(process.platform === "win32" ? "Windows has no such permissions" : null),
  () => {
    let program: ChildProgram;
    let folder: string;

    beforeAll(async () => {
      program = await buildChild("test/fault/children/writer.ts");
    });

    afterAll(() => {
      program.remove();
    });

    beforeEach(({ skip }) => {
      folder = mkdtempSync(join(tmpdir(), "verbatim-locked-"));
      skip(CLOSED !== null, `as root the writer is another user, who may not enter ${CLOSED}`);
    });

    afterEach(() => {
      chmodSync(folder, 0o755);
      rmSync(folder, { recursive: true });
    });

    async function expectReadOnly(kind: string, place: string): Promise<void> {
      const files = () => readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "hex")]);
      chmodSync(folder, 0o555);
      const before = files();
      const child = program.start([kind, place, "locked out", "1"], { ...SOMEBODY, cwd: "/" });
      const { code, errors } = await child.ended;
      expect(code).toBe(1);
      expect(JSON.parse(errors)).toEqual({
        code: "FOLDER_READ_ONLY",
        where: expect.stringContaining(folder),
        fix: "Change its permissions, or work in another folder with -C DIR.",
      });
      expect(child.lines).toEqual([]);
      expect(files()).toEqual(before);
    }

    it("is FOLDER_READ_ONLY for a store that is still to be made", async () => {
      await expectReadOnly("sqlite", join(folder, "store.db"));
    });

    it("is FOLDER_READ_ONLY for a store whose own folder is still to be made", async () => {
      await expectReadOnly("sqlite", join(folder, "state", "store.db"));
    });

    it("is FOLDER_READ_ONLY for a store that exists, and leaves it as it is", async () => {
      const path = join(folder, "store.db");
      // Made by a process that is gone: in this one a closed store drops its side files when its statements are collected.
      expect((await program.start(["sqlite", path, "first", "1"], { cwd: "/" }).ended).code).toBe(0);
      for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o444);
      await expectReadOnly("sqlite", path);
    });

    it("is FOLDER_READ_ONLY for payloads", async () => {
      await expectReadOnly("content", join(folder, "blobs"));
      chmodSync(folder, 0o755);
      await createContentStore({ ...fixedPorts(), folder: join(folder, "blobs") }).put(new Uint8Array([1]));
      const child = program.start(["content", join(folder, "blobs"), "locked out", "1"], { ...SOMEBODY, cwd: "/" });
      // Not root and not locked out: the same user who made the folder may write there.
      if (process.getuid?.() === 0)
        expect(JSON.parse((await child.ended).errors)).toMatchObject({ code: "FOLDER_READ_ONLY" });
      else expect((await child.ended).code).toBe(0);
    });
  },
);
