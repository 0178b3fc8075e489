import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { BodyPiece, EntryRecord, LedgerQuery, NewEntry, WriteTransaction } from "../../src/core/ports.ts";
import { expectUnbrokenChain } from "../support/chain.ts";
import type { StoreHarness, TestStore } from "../support/stores.ts";

export const note = (text: string): NewEntry => ({ kind: "NOTE_ADDED", actor: "cli", body: { text } });

/** Expects a promise to be rejected with a code of the table, and nothing else. */
export async function expectCode(promise: Promise<unknown>, code: string): Promise<void> {
  await expect(promise).rejects.toMatchObject({ name: "VerbatimError", code });
}

/** What every store must do, whichever database it uses. */
export function describeStore(create: () => Promise<StoreHarness>): void {
  let harness: StoreHarness;
  let store: TestStore;

  beforeEach(async () => {
    harness = await create();
    store = await harness.open();
  });

  afterEach(async () => {
    await harness.destroy();
  });

  const append = (stream: string, ...texts: string[]): Promise<EntryRecord[]> =>
    store.transact((tx: WriteTransaction) => tx.ledger.append(stream, "next", texts.map(note)));
  const readStream = (stream: string) => store.read((tx) => tx.ledger.readStream(stream, 0, 10_000));
  const size = () => store.read((tx) => tx.ledger.size());

  describe("appending", () => {
    it("seals entries with position, time and hashes, and gives back what it stored", async () => {
      const [entry] = await append("job/7", "a lamp");
      expect(entry).toEqual({
        stream: "job/7",
        position: 0,
        previous: "0".repeat(64),
        kind: "NOTE_ADDED",
        time: "2025-01-02T03:04:05.000Z",
        actor: "cli",
        body: '{"text":"a lamp"}',
        body_hash: "c1243142e248e93fe55ce049668c2c1ca8fafa8a1b008ee57b38ef3b0a247588",
        hash: "52102165eb59fba38a89a40fc0a1a276e33e8c7e971e5155fa07cc41765b57d7",
      });
    });

    it("goes on where the stream ended, in one chain per stream", async () => {
      await append("job/1", "one", "two");
      harness.clock.advance(1500);
      await append("job/2", "elsewhere");
      await append("job/1", "three");
      const entries = await readStream("job/1");
      expect(entries.map((entry) => entry.body)).toEqual(['{"text":"one"}', '{"text":"two"}', '{"text":"three"}']);
      expect(entries[2]?.time).toBe("2025-01-02T03:04:06.500Z");
      expectUnbrokenChain(entries);
      expectUnbrokenChain(await readStream("job/2"));
    });

    it("accepts the position it expects and refuses any other without writing", async () => {
      await append("context", "first");
      await store.transact((tx) => tx.ledger.append("context", 1, [note("second")]));
      for (const wrong of [0, 1, 3]) {
        await expectCode(
          store.transact((tx) => tx.ledger.append("context", wrong, [note("never")])),
          "LEDGER_POSITION_CONFLICT",
        );
      }
      expect((await readStream("context")).length).toBe(2);
    });

    it("lets a transaction go on after a conflict that it handled", async () => {
      await store.transact(async (tx) => {
        await expectCode(tx.ledger.append("context", 5, [note("never")]), "LEDGER_POSITION_CONFLICT");
        await tx.ledger.append("context", 0, [note("instead")]);
      });
      expect((await readStream("context")).map((entry) => entry.body)).toEqual(['{"text":"instead"}']);
    });

    it("refuses an entry that breaks the rules of the envelope and writes none of its neighbours", async () => {
      const bad = { ...note("bad"), kind: "lower case" };
      await expectCode(
        store.transact((tx) => tx.ledger.append("context", "next", [note("good"), bad])),
        "LEDGER_ENTRY_INVALID",
      );
      expect(await size()).toBe(0);
    });

    it("appends nothing when asked for nothing, but still minds the position", async () => {
      expect(await store.transact((tx) => tx.ledger.append("context", 0, []))).toEqual([]);
      await expectCode(
        store.transact((tx) => tx.ledger.append("context", 1, [])),
        "LEDGER_POSITION_CONFLICT",
      );
      expect(await store.read((tx) => tx.ledger.head("context"))).toBeNull();
    });

    it("keeps many entries of one append in their order", async () => {
      await append("context", ...Array.from({ length: 450 }, (_, i) => `line ${i}`));
      const entries = await readStream("context");
      expect(entries.map((entry) => entry.body)).toEqual(Array.from({ length: 450 }, (_, i) => `{"text":"line ${i}"}`));
      expectUnbrokenChain(entries);
    });

    it("keeps a long piece of many bodies once, and gives every body back whole", async () => {
      const text = `"${"the harbour lamp \\u2028 ".repeat(5000)}"`;
      let asked = 0;
      const piece: BodyPiece = {
        sha256: createHash("sha256").update(`${text}\n`).digest("hex"),
        size: text.length,
        bytes: () => {
          asked++;
          return new TextEncoder().encode(text);
        },
      };
      const short: BodyPiece = { sha256: "0".repeat(64), size: 4, bytes: () => new TextEncoder().encode('"ok"') };
      const bodies = [1, 2, 3].map((n) => `{"a":${text},"b":"ok","c":${text},"n":${n}}`);
      for (const [i, body] of bodies.entries()) {
        const body_parts = {
          parts: ['{"a":', piece, ',"b":', short, ',"c":', piece, `,"n":${i + 1}}`],
          sha256: createHash("sha256").update(body).digest("hex"),
        };
        const entry = { kind: "RUN", actor: "cli", body: null, body_parts };
        const [sealed] = await store.transact((tx) => tx.ledger.append("run/1", "next", [entry]));
        expect(sealed?.body).toBe(body);
      }
      // Twice for each body that was looked at here, and once to be kept.
      expect(asked).toBe(7);
      const entries = await readStream("run/1");
      expect(entries.map(({ body }) => body)).toEqual(bodies);
      expectUnbrokenChain(entries);
      const all = await store.read((tx) => tx.ledger.readAll(0, 10));
      expect(all.map(({ entry }) => entry)).toEqual(entries);
      expect((await store.read((tx) => tx.ledger.findByHash(entries[1]!.hash)))?.entry).toEqual(entries[1]);
    });

    it("keeps a long body with every kind of character as it is", async () => {
      const long = "ä🜁\u0000\n".repeat(30_000);
      const [entry] = await append("context", long);
      const [kept] = await readStream("context");
      expect(kept).toEqual(entry);
      expect((JSON.parse(kept!.body) as { text: string }).text).toBe(long);
    });
  });

  describe("transactions", () => {
    it("leave nothing behind when the function throws", async () => {
      const reason = new Error("changed my mind");
      const attempt = store.transact(async (tx) => {
        await tx.ledger.append("context", "next", [note("gone")]);
        await tx.notes.add("gone too");
        throw reason;
      });
      await expect(attempt).rejects.toBe(reason);
      expect(await size()).toBe(0);
      expect(await store.read((tx) => tx.notes.list())).toEqual([]);
      expect(await store.read((tx) => tx.ledger.streams())).toEqual([]);
    });

    it("that failed do not disturb those that follow", async () => {
      await append("context", "one");
      const attempt = store.transact(async (tx) => {
        await tx.ledger.append("context", 1, [note("never")]);
        throw new Error("changed my mind");
      });
      await expect(attempt).rejects.toThrow("changed my mind");
      await append("context", "two");
      await store.transact((tx) => tx.ledger.append("context", 2, [note("three")]));
      const entries = await readStream("context");
      expect(entries.map((entry) => entry.body)).toEqual(['{"text":"one"}', '{"text":"two"}', '{"text":"three"}']);
      expectUnbrokenChain(entries);
    });

    it("commit the ledger and a room's tables together", async () => {
      await store.transact(async (tx) => {
        await tx.ledger.append("context", "next", [note("kept")]);
        await tx.notes.add("kept too");
      });
      expect(await size()).toBe(1);
      expect(await store.read((tx) => tx.notes.list())).toEqual(["kept too"]);
    });

    it("see what they wrote themselves, the global order included", async () => {
      await append("other", "before");
      const seen = await store.transact(async (tx) => {
        const [entry] = await tx.ledger.append("context", "next", [note("mine")]);
        await tx.ledger.append("context", "next", [note("mine again")]);
        return {
          head: (await tx.ledger.head("context"))?.position,
          size: await tx.ledger.size(),
          found: (await tx.ledger.findByHash(entry!.hash))?.index,
          hashes: (await tx.ledger.readHashes(0, 10)).length,
          all: (await tx.ledger.readAll(0, 10)).map(({ index, entry: { body } }) => `${index} ${body}`),
        };
      });
      expect(seen).toEqual({
        head: 1,
        size: 3,
        found: 1,
        hashes: 3,
        all: ['0 {"text":"before"}', '1 {"text":"mine"}', '2 {"text":"mine again"}'],
      });
    });

    it("are not committed when a statement failed, even if the function hides it", async () => {
      await store.transact((tx) => tx.notes.stamp("A", 1));
      const attempt = store.transact(async (tx) => {
        await tx.notes.add("half of the work");
        await tx.notes.stamp("A", 2).catch(() => undefined);
      });
      await expectCode(attempt, "STORE_REFUSED");
      expect(await store.read((tx) => tx.notes.list())).toEqual([]);
    });

    it("asked for at once all find their place in the chain", async () => {
      const texts = Array.from({ length: 40 }, (_, i) => `beat ${i}`);
      await Promise.all(texts.map((text) => append("world/sea", text)));
      const entries = await readStream("world/sea");
      expect(entries.map((entry) => entry.body).toSorted()).toEqual(
        texts.map((text) => `{"text":"${text}"}`).toSorted(),
      );
      expectUnbrokenChain(entries);
    });

    it("of two open stores on the same database do not disturb each other", async () => {
      const second = await harness.open();
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 === 0 ? store : second).transact(async (tx) => {
            const head = await tx.ledger.head("context");
            await tx.ledger.append("context", head === null ? 0 : head.position + 1, [note(`turn ${i}`)]);
          }),
        ),
      );
      const entries = await readStream("context");
      expect(entries.length).toBe(20);
      expectUnbrokenChain(entries);
    });

    it("refuse to be nested in any way, and survive the attempt", async () => {
      await store.transact(async (tx) => {
        await expectCode(
          store.transact(async () => 1),
          "INTERNAL",
        );
        await expectCode(
          store.read(async () => 1),
          "INTERNAL",
        );
        await expectCode(store.close(), "INTERNAL");
        await tx.ledger.append("context", "next", [note("still here")]);
      });
      await store.read(async () => {
        await expectCode(
          store.transact(async () => 1),
          "INTERNAL",
        );
      });
      expect(await size()).toBe(1);
    });

    it("may be started by work that a finished transaction left behind", async () => {
      let later: Promise<unknown> = Promise.resolve();
      let go: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => {
        go = resolve;
      });
      await store.transact(async () => {
        later = gate.then(() => append("context", "afterwards"));
      });
      go();
      await later;
      expect(await size()).toBe(1);
    });

    it("refuse a transaction that is used after they ended", async () => {
      const ended = await Promise.all([
        store.transact(async (tx) => [tx] as const),
        store.read(async (tx) => [tx] as const),
      ]);
      for (const [tx] of ended) {
        await expectCode(tx.ledger.size(), "INTERNAL");
        await expectCode(tx.notes.list(), "INTERNAL");
      }
      const [[writer]] = ended;
      await expectCode(writer.ledger.append("context", "next", [note("late")]), "INTERNAL");
      expect(await size()).toBe(0);
    });
  });

  describe("readers", () => {
    it("keep seeing one state while writers go on", async () => {
      await append("context", "one");
      await store.read(async (tx) => {
        expect(await tx.ledger.size()).toBe(1);
        const outside = await harness.open();
        await outside.transact((other) => other.ledger.append("context", "next", [note("two")]));
        expect(await tx.ledger.size()).toBe(1);
        expect((await tx.ledger.readAll(0, 10)).length).toBe(1);
        expect((await tx.ledger.head("context"))?.position).toBe(0);
      });
      expect(await size()).toBe(2);
    });

    it("do not see what is not committed", async () => {
      await store.transact(async (tx) => {
        await tx.ledger.append("context", "next", [note("soon")]);
        const outside = await harness.open();
        expect(await outside.read((other) => other.ledger.size())).toBe(0);
        expect(await outside.read((other) => other.ledger.streams())).toEqual([]);
      });
      expect(await size()).toBe(1);
    });

    it("cannot write", async () => {
      await expectCode(
        store.read((tx) => tx.notes.sneak("ink")),
        "INTERNAL",
      );
      expect(await store.read((tx) => tx.notes.list())).toEqual([]);
      expect(await store.read(async (tx) => "append" in tx.ledger)).toBe(false);
    });

    it("can be more at once than the store has connections", async () => {
      await append("context", "one");
      const sizes = await Promise.all(Array.from({ length: 30 }, () => size()));
      expect(new Set(sizes)).toEqual(new Set([1]));
    });

    it("page through everything without gaps or repetitions", async () => {
      for (let i = 0; i < 23; i++) await append(`job/${i % 3}`, `step ${i}`);
      const pages = await store.read(async (tx) => {
        const all: string[] = [];
        const hashes: string[] = [];
        for (let from = 0; from < 30; from += 7) {
          all.push(...(await tx.ledger.readAll(from, 7)).map(({ index, entry }) => `${index} ${entry.hash}`));
          hashes.push(...(await tx.ledger.readHashes(from, 7)));
        }
        return { all, hashes, tail: await tx.ledger.readStream("job/1", 5, 2) };
      });
      expect(pages.all).toEqual(pages.hashes.map((hash, index) => `${index} ${hash}`));
      expect(new Set(pages.hashes).size).toBe(23);
      expect(pages.tail.map((entry) => entry.body)).toEqual(['{"text":"step 16"}', '{"text":"step 19"}']);
    });

    it("find entries by stream, kind, actor and time, the newest first, and count them by stream", async () => {
      await append("job/1", "one", "two");
      await append("context", "three");
      const other: NewEntry = { kind: "OTHER_THING", actor: "mira", body: { text: "four" } };
      const [last] = await store.transact((tx) => tx.ledger.append("job/1", "next", [other]));
      const found = await store.read(async ({ ledger }) => {
        const list = async (query: Omit<LedgerQuery, "limit">, limit = 10) =>
          (await ledger.browse({ ...query, limit })).map(({ index }) => index);
        return {
          all: await list({}),
          page: await list({ before: 3 }, 2),
          streams: await list({ streams: ["job/1", "nothing"] }),
          kinds: await list({ kinds: ["OTHER_THING"] }),
          actor: await list({ actor: "cli", streams: ["job/1"] }),
          none: await list({ to: "2001-01-01T00:00:00.000Z" }),
          since: await list({ from: last!.time, kinds: ["OTHER_THING"] }),
          body: (await ledger.browse({ limit: 1 }))[0]?.entry.body,
          tally: await ledger.tally(1, 4),
        };
      });
      expect(found).toEqual({
        all: [3, 2, 1, 0],
        page: [2, 1],
        streams: [3, 1, 0],
        kinds: [3],
        actor: [1, 0],
        none: [],
        since: [3],
        body: '{"text":"four"}',
        tally: [
          { stream: "context", entries: 1 },
          { stream: "job/1", entries: 2 },
        ],
      });
    });

    it("get an empty page beyond the end, and none for a page that makes no sense", async () => {
      await append("context", "one");
      await store.read(async (tx) => {
        expect(await tx.ledger.readAll(1, 10)).toEqual([]);
        expect(await tx.ledger.readHashes(99, 10)).toEqual([]);
        expect(await tx.ledger.readStream("nobody", 0, 10)).toEqual([]);
        expect(await tx.ledger.readAll(0, 0)).toEqual([]);
        await expectCode(tx.ledger.readAll(-1, 10), "LEDGER_RANGE_INVALID");
        await expectCode(tx.ledger.readHashes(0, 1.5), "LEDGER_RANGE_INVALID");
        await expectCode(tx.ledger.readStream("context", Number.NaN, 1), "LEDGER_RANGE_INVALID");
      });
    });

    it("find an entry by its hash with its global index, and nothing by a foreign one", async () => {
      await append("context", "one");
      const [entry] = await append("job/1", "two");
      await store.read(async (tx) => {
        expect(await tx.ledger.findByHash(entry!.hash)).toEqual({ index: 1, entry });
        expect(await tx.ledger.findByHash("f".repeat(64))).toBeNull();
      });
    });

    it("list streams by code point with their lengths", async () => {
      // By UTF-16 units the emoji would come before the full-width tilde; by a locale "a" before "B".
      const names = ["job/B", "job/a", "job/é", "job/～", "job/😀"];
      for (const name of names.toReversed()) await append(name, "x", "y");
      expect(await store.read((tx) => tx.ledger.streams())).toEqual(names.map((stream) => ({ stream, length: 2 })));
    });
  });

  describe("the global order", () => {
    it("is gap-free while many streams grow and some transactions fail", async () => {
      const second = await harness.open();
      const attempts = Array.from({ length: 60 }, (_, i) =>
        (i % 2 === 0 ? store : second).transact(async (tx) => {
          await tx.ledger.append(`job/${i % 5}`, "next", [note(`a ${i}`), note(`b ${i}`)]);
          if (i % 4 === 3) throw new Error("this one fails");
        }),
      );
      const results = await Promise.allSettled(attempts);
      expect(results.filter((result) => result.status === "fulfilled").length).toBe(45);
      const all = await store.read((tx) => tx.ledger.readAll(0, 1000));
      expect(all.map(({ index }) => index)).toEqual(Array.from({ length: 90 }, (_, i) => i));
      for (let i = 0; i < 5; i++) {
        expectUnbrokenChain(all.map(({ entry }) => entry).filter((entry) => entry.stream === `job/${i}`));
      }
    });
  });

  describe("text", () => {
    it.each([
      ["U+0000", "before\u0000after"],
      ["half of a surrogate pair", "before\ud83dafter"],
      ["the other half", "\ude00"],
    ])("with %s is refused instead of being cut or changed", async (_, text) => {
      await expectCode(
        store.transact((tx) => tx.notes.add(text)),
        "STORE_TEXT_INVALID",
      );
      await expectCode(
        store.read((tx) => tx.ledger.readStream(text, 0, 1)),
        "STORE_TEXT_INVALID",
      );
      expect(await store.read((tx) => tx.notes.list())).toEqual([]);
    });

    it("of any other kind comes back as it went in", async () => {
      const texts = [
        "",
        " ",
        "a\r\nb\tc",
        "\ufeff",
        "e\u0301",
        "é",
        "😀",
        "\u{10ffff}",
        "\ufffd",
        "'\"\\;--",
        "\u0001",
      ];
      await store.transact(async (tx) => {
        for (const text of texts) await tx.notes.add(text);
      });
      expect(new Set(await store.read((tx) => tx.notes.list()))).toEqual(new Set(texts));
    });
  });

  describe("the store itself", () => {
    it("has one identity that every opening sees", async () => {
      const second = await harness.open();
      const ids = await Promise.all([store, second].map((one) => one.read((tx) => tx.ledger.ledgerId())));
      expect(ids).toEqual(["00000000-0000-4000-8000-000000000000", "00000000-0000-4000-8000-000000000000"]);
    });

    it("keeps everything when it is closed and opened again", async () => {
      await append("context", "one", "two");
      const before = await readStream("context");
      await store.close();
      store = await harness.open();
      expect(await readStream("context")).toEqual(before);
      await append("context", "three");
      expectUnbrokenChain(await readStream("context"));
    });

    it("finishes the transactions that run when it is closed, and refuses new ones", async () => {
      const running = append("context", "last words");
      const closed = store.close();
      await expectCode(append("context", "too late"), "INTERNAL");
      await expectCode(size(), "INTERNAL");
      await Promise.all([running, closed]);
      await store.close();
      store = await harness.open();
      expect((await readStream("context")).map((entry) => entry.body)).toEqual(['{"text":"last words"}']);
    });
  });
}
