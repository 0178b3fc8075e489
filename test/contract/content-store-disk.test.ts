import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createContentStore } from "../../src/adapters/disk/durable/content-store.ts";
import type { ContentStore } from "../../src/core/ports.ts";
import { fixedPorts } from "../support/fixed-ports.ts";
import { createSqliteHarness } from "../support/stores.ts";
import { describeContentStore } from "./content-store-suite.ts";
import { expectCode } from "./store-suite.ts";

const place = (folder: string, hash: string) => join(folder, "sha256", hash.slice(0, 2), hash.slice(2, 4), hash);

describe("a content store on disk", () => {
  describeContentStore(async () => {
    const harness = await createSqliteHarness();
    const folder = join(dirname(harness.path), "blobs");
    return {
      content: createContentStore({ ...fixedPorts(), folder, clock: harness.clock }),
      store: await harness.open(),
      clock: harness.clock,
      damage: async (hash, bytes) => writeFileSync(place(folder, hash), bytes),
      lose: async (hash) => rmSync(place(folder, hash)),
      destroy: () => harness.destroy(),
    };
  });

  describe("on its own", () => {
    let root: string;
    let folder: string;
    let content: ContentStore;
    const bytes = new TextEncoder().encode("the ferry leaves at six");

    beforeEach(() => {
      root = mkdtempSync(join(tmpdir(), "verbatim-blobs-"));
      folder = join(root, "blobs");
      content = createContentStore({ ...fixedPorts(), folder });
    });

    afterEach(() => {
      rmSync(root, { recursive: true });
    });

    it("keeps a payload in two folders named by its hash, and leaves no unfinished file", async () => {
      const made = await content.put(bytes);
      expect(readdirSync(folder).toSorted()).toEqual(["sha256", "tmp"]);
      expect(readdirSync(dirname(place(folder, made)))).toEqual([made]);
      expect(readdirSync(join(folder, "tmp"))).toEqual([]);
    });

    it.each([
      ["the whole folder", ""],
      ["the kind of hash", "sha256"],
      ["the first folder", "sha256/ab"],
      ["the payload itself", "sha256/ab/cd/file"],
    ])("refuses a link in the place of %s", async (_, where) => {
      const made = await content.put(bytes);
      const path = join(
        folder,
        where.replace("ab/cd/file", join(made.slice(0, 2), made.slice(2, 4), made)).replace("ab", made.slice(0, 2)),
      );
      renameSync(path, join(root, "elsewhere"));
      symlinkSync(join(root, "elsewhere"), path);
      for (const attempt of [() => content.get(made), () => content.put(bytes), () => content.has(made)]) {
        await expect(attempt()).rejects.toMatchObject({ code: "CONTENT_STORE_CORRUPT", details: { hash: made } });
      }
    });

    it("refuses a folder in the place of a payload", async () => {
      const made = await content.put(bytes);
      rmSync(place(folder, made));
      mkdirSync(place(folder, made));
      await expectCode(content.get(made), "CONTENT_STORE_CORRUPT");
      await expectCode(content.put(bytes), "CONTENT_STORE_CORRUPT");
    });

    it("cleans up what dead processes left unfinished, and nothing of living ones", async () => {
      await content.put(bytes);
      const [example] = await unfinishedNames();
      const dead = example!.replace(/-[0-9]+-/, "-4194303-");
      const living = example!.replace(/-[0-9]+-/, `-${process.ppid}-`);
      const foreign = "somebody-elses.txt";
      for (const name of [dead, living, foreign]) writeFileSync(join(folder, "tmp", name), "half");
      await createContentStore({ ...fixedPorts(), folder }).put(new Uint8Array([1]));
      expect(readdirSync(join(folder, "tmp")).toSorted()).toEqual([living, foreign].toSorted());
    });

    it("does not take an unfinished payload for abandoned because the clock it was written by is far behind", async () => {
      await content.put(bytes);
      const [own] = await unfinishedNames();
      const [elsewhere] = [own!.replace(/^[0-9a-f]{12}/, "0123456789ab")];
      const past = new Date("2001-02-03T04:05:06Z");
      for (const name of [own!, elsewhere]) {
        writeFileSync(join(folder, "tmp", name), "half");
        utimesSync(join(folder, "tmp", name), past, past);
      }
      await createContentStore({ ...fixedPorts(), folder }).put(new Uint8Array([1]));
      expect(readdirSync(join(folder, "tmp")).toSorted()).toEqual([own!, elsewhere].toSorted());
    });

    /** The name of an unfinished file, caught while a payload is being written. */
    async function unfinishedNames(): Promise<string[]> {
      const large = new Uint8Array(8 << 20).fill(3);
      const writing = content.put(large);
      let names: string[] = [];
      while (names.length === 0) {
        names = readdirSync(join(folder, "tmp"));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writing;
      return names;
    }

    it("keeps a payload that is stored again between the look at its age and its removal", async () => {
      const made = await content.put(bytes);
      const past = new Date("2001-02-03T04:05:06Z");
      utimesSync(place(folder, made), past, past);
      const instant = past.getTime() + 1000;
      // The collector is another process: it has looked, and now its folder for unfinished files is being made.
      const removing = createContentStore({ ...fixedPorts(), folder }).remove(made, instant);
      utimesSync(place(folder, made), new Date(instant), new Date(instant));
      expect(await removing).toBe(false);
      expect(await content.get(made)).toEqual(bytes);
      expect(readdirSync(join(folder, "tmp"))).toEqual([]);
    });

    it("ignores files that are no payloads when it lists", async () => {
      const made = await content.put(bytes);
      writeFileSync(join(dirname(place(folder, made)), "notes.txt"), "hello");
      writeFileSync(join(dirname(place(folder, made)), "0".repeat(64)), "wrong folder");
      mkdirSync(join(folder, "sha256", "zz"));
      const hashes: string[] = [];
      for await (const one of content.list()) hashes.push(one);
      expect(hashes).toEqual([made]);
    });
  });
});
