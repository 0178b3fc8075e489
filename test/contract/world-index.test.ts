import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { toWriteBundle } from "../../src/rooms/world/beat/bundle.ts";
import { appendRecord } from "../../src/rooms/world/history/commit.ts";
import { rebuildIndex, verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { Capsules } from "../../src/rooms/world/knowledge/capsules.ts";
import { loadWorld } from "../../src/rooms/world/projection/reading.ts";
import { readPage, search } from "../../src/rooms/world/projection/views.ts";
import type { AcceptedLine } from "../../src/rooms/world/writer/output.ts";
import { needs } from "../support/needs.ts";
import { usePostgres } from "../support/postgres.ts";
import { makeHarbour, openWorlds, type TestWorlds } from "../support/world.ts";
import { beginningOf } from "../support/world-oracle.ts";

const postgres = await usePostgres();

/** Numbers that are the same in every run. */
function seeded(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % bound;
  };
}

const WORDS = ["boat", "boats", "tide", "lamp", "rope", "gull", "海", "船", "ท", "เ", "é"] as const;
const VIEWERS = ["GEORGE", "ANA", "BEN"] as const;

interface Written extends Line {
  readonly entry_id: string;
}

interface Line {
  readonly author: string;
  readonly text: string;
  readonly seen: readonly string[];
}

/** More lines than two blocks hold, in commits of different length, one of them with very many words. */
function plan(): Line[][] {
  const next = seeded(11);
  const commits: Line[][] = [];
  for (let lines = 0; lines < 560; lines += commits.at(-1)!.length) {
    const count = lines < 3 ? 1 : 1 + next(12);
    commits.push(
      Array.from({ length: count }, (_, i) => {
        const author = VIEWERS[next(3)]!;
        const seen = VIEWERS.filter((viewer) => viewer === author || next(3) === 0);
        const words = Array.from({ length: 1 + next(5) }, () => WORDS[next(WORDS.length)]!);
        const many = commits.length === 20 && i === 0 ? Array.from({ length: 400 }, (_, n) => `word${n}`) : [];
        return { author, text: [...words, ...many].join(" "), seen };
      }),
    );
  }
  return commits;
}

async function commit(worlds: TestWorlds, id: string, lines: readonly Line[]): Promise<Written[]> {
  const { ports } = worlds;
  return ports.store.transact(async (tx) => {
    const world = await loadWorld(tx.world, id);
    const accepted = lines.map(({ author, text, seen }): AcceptedLine => {
      const isOperator = author === "GEORGE";
      return {
        author: { author_id: author, author_class: isOperator ? "OPERATOR" : "PERSON" },
        channel: isOperator ? "USER" : "PEOPLE",
        text,
        visibility: { scope: "PRIVATE", visible_to: seen },
      };
    });
    const write_bundle = toWriteBundle(ports.crypto, world.state, {
      request_id: "test",
      created_at_world: "2026-01-01T07:30:00+00:00",
      proposed_by: { engine: "ENGINE_1_INVOCATION", actor: "test" },
      lines: accepted,
    });
    const body = { people: [], present: [...world.state.present], source_sha256: "a".repeat(64), write_bundle };
    await appendRecord(ports, tx, world, "WORLD_IMPORTED", body as never);
    return lines.map((line, i) => ({ ...line, entry_id: write_bundle!.entries[i]!.entry_id! }));
  });
}

/** What a search must find: most distinct words first, then the newest. */
function expectedHits(lines: readonly Written[], viewer: string, words: readonly string[]): string[] {
  return lines
    .map((line, at) => ({ ...line, at, held: words.filter((word) => line.text.split(" ").includes(word)).length }))
    .filter(({ seen, held }) => seen.includes(viewer) && held > 0)
    .sort((a, b) => b.held - a.held || b.at - a.at)
    .slice(0, 7)
    .map(({ entry_id }) => entry_id);
}

/** The newest lines whose beginnings fit together, oldest first. */
function newestWithin(lines: readonly Written[], bytes: number): readonly Written[] {
  let sum = 0;
  const from = lines.findLastIndex(({ text }) => (sum += Buffer.byteLength(beginningOf(text, 800))) > bytes);
  return lines.slice(from + 1);
}

describe.each([
  ["SQLite", null],
  ["PostgreSQL", postgres],
] as const)("the index of a world in %s", (_name, server) => {
  it(
    "finds every line a viewer may see, whether it is in posting lists or waits for them, and no other",
    needs(server?.reason ?? null),
    async () => {
      const database = server === null ? null : await server.createDatabase();
      try {
        await using worlds = await openWorlds(database === null ? {} : { url: database.url });
        const id = await makeHarbour(worlds);
        const { ports } = worlds;
        const lines: Written[] = [];
        const kept = new Capsules();
        for (const [n, part] of plan().entries()) {
          lines.push(...(await commit(worlds, id, part)));
          if (n % 8 !== 0 && lines.length % 256 < 250) continue;
          for (const viewer of VIEWERS) {
            for (const words of [["boat"], ["lamp", "海", "ท"], ["e", "船", "gull", "rope"], ["word399"], ["oa"]]) {
              const query = { query_text: words.join(" "), limit: 7, person_id: null, from: null, to: null };
              const { results } = await search(ports, id, viewer, query);
              const asked = words.map((word) => (word === "e" ? "é" : word));
              expect(results.map(({ entry_id }) => entry_id)).toEqual(expectedHits(lines, viewer, asked));
            }
          }
          await ports.store.read(async (tx) => {
            const opened = await loadWorld(tx.world, id);
            const world = { ...opened, cast: { ...opened.cast, present: VIEWERS } };
            const view = { kind: "viewer", id: VIEWERS[n % 3]! } as const;
            const packs = await kept.ofPresent(ports, tx.world, world, view, 4000, "2026-01-01T07:30:00+00:00");
            for (const pack of packs) {
              const own = lines.filter(({ author, seen }) => author === pack.person_id && seen.includes(view.id));
              const shown = pack.sections[0]!.provenance.used_entry_ids;
              // The newest lines whose quotes, at most 800 bytes each, fit into a tenth of three times the window.
              const fits = newestWithin(own, 1200);
              expect(shown).toEqual(fits.map(({ entry_id }) => entry_id));
              const quoted = fits.map(({ text }) => beginningOf(text, 800)).join("\n");
              const used = JSON.stringify({
                person: pack.person_id,
                used_entry_ids: shown,
                view: { id: view.id, kind: "viewer" },
              });
              expect(pack).toEqual({
                capsule_id: `cap:${pack.person_id}:${createHash("sha256").update(used).digest("hex").slice(0, 16)}`,
                person_id: pack.person_id,
                created_at_world: "2026-01-01T07:30:00+00:00",
                sections: [{ name: "SOURCE_EXCERPTS", text: quoted, provenance: { used_entry_ids: shown } }],
              });
            }
          });
        }
        expect((await verifyWorld(ports, id)).findings).toEqual([]);
        const waiting = await ports.store.read((tx) => tx.world.recentTerms(1));
        expect(waiting.every(({ wseq }) => wseq >= lines.length - (lines.length % 256))).toBe(true);
        for (const viewer of VIEWERS) {
          const visible = lines.filter(({ seen }) => seen.includes(viewer)).map(({ text }) => text);
          const found: string[] = [];
          for (let before: string | null = null; found.length < visible.length; ) {
            const page = await readPage(ports, id, { viewer, after: null, before, limit: 50 });
            found.unshift(...page.entries.map(({ text }) => text));
            before = page.cursor_before;
            if (!page.has_more_before) break;
          }
          expect(found).toEqual(visible);
        }
        await rebuildIndex(ports, id);
        expect((await verifyWorld(ports, id)).findings).toEqual([]);
      } finally {
        await database?.drop();
      }
    },
  );
});
