import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LandingRepo } from "../../../../test/support/landing-repo.ts";
import { nodeCrypto } from "../../../adapters/crypto/node-crypto.ts";
import { formatChangePatch } from "../../../adapters/git/change-patch.ts";
import type { Candidate, CandidatePick } from "../contracts/candidate.ts";
import { buildCandidate, splitChanges } from "./build-candidate.ts";
import { type FileHunks, readHunks } from "./hunks.ts";
import { selectChanges } from "./select-changes.ts";
import { resolveSelection } from "./selection.ts";

const NUMBERS = Array.from({ length: 40 }, (_, i) => `${i + 1}\n`);
const text = (changes: Readonly<Record<number, string>> = {}) =>
  NUMBERS.map((line, i) => changes[i + 1] ?? line).join("");

const repo = new LandingRepo({ "a.txt": text(), gone: "x\n", flip: "x\n", "b.bin": Buffer.from([0, 1]) });
const LEFT = {
  "a.txt": { mode: 0o755, text: text({ 2: "two\n", 20: "twenty\n", 22: "", 38: "last\n" }) },
  gone: null,
  flip: { to: "a.txt" },
  "b.bin": Buffer.from([0, 2]),
  new: "new\n",
};
let candidate: Candidate;
let hunks: ReadonlyMap<string, FileHunks>;

/** The whole change as picks, which is how its sides are found here. */
async function build(picks: readonly CandidatePick[], from: Pick<Candidate, "files">, own: typeof hunks) {
  const changes = await selectChanges(repo.ports, repo.base, from as Candidate, own, picks);
  const split = splitChanges(changes);
  const patch = await formatChangePatch({
    root: repo.root,
    tree: repo.base.tree,
    objects: `${repo.folder}/objects`,
    changes: split.text.map(({ path, after }) => ({
      path,
      before: null,
      after:
        after === null ? null : { mode: after.mode, hasNul: false, read: () => repo.ports.content.get(after.sha256) },
    })),
  });
  const base = { commit: "a".repeat(40), tree: repo.base.tree };
  const parts = {
    c: 1,
    kind: "selection",
    base,
    patch: patch.text.length === 0 ? null : patch.text,
    notices: [],
  } as const;
  return { ...buildCandidate({ ...parts, changes, picked: picks }, nodeCrypto), patch: patch.text };
}

beforeAll(async () => {
  const files = await repo.candidate(LEFT);
  const all = Object.keys(LEFT).map((path): CandidatePick => ({ path, hunks: "all" }));
  const built = await build(all, { files }, new Map());
  candidate = built.candidate;
  hunks = readHunks(built.patch, nodeCrypto);
});
afterAll(() => repo.remove());

const select = async (only: string[], except: string[] = []) =>
  (await build(resolveSelection(candidate, { only, except }), candidate, hunks)).candidate;
const textOf = async (one: Candidate, path: string) =>
  Buffer.from(await repo.ports.content.get(one.files.find((file) => file.path === path)!.sha256!)).toString();

describe("a selection of a candidate", () => {
  it("of everything is the candidate, by its hash", async () => {
    expect(candidate.files.map(({ path, operation, kind }) => `${path} ${operation} ${kind}`)).toEqual([
      "a.txt modify text",
      "b.bin modify binary",
      "flip delete text",
      "flip create link",
      "gone delete text",
      "new create text",
    ]);
    expect((await select([])).sha256).toBe(candidate.sha256);
  });

  it("of some hunks is the base with exactly those, in the mode it had", async () => {
    const one = await select(["a.txt:1,2.2"]);
    expect(one.files).toMatchObject([{ path: "a.txt", mode: "100644", added: 1, deleted: 2 }]);
    expect(await textOf(one, "a.txt")).toBe(text({ 2: "two\n", 22: "" }));
    expect(one.picked).toEqual([{ path: "a.txt", hunks: [1, "2.2"] }]);
    expect(one.carried_sha256).toBeNull();
  });

  it("takes what is carried whole, and a file that becomes a link in both its halves", async () => {
    const one = await select(["b.bin", "flip"]);
    expect(one.files.map(({ path, operation }) => `${path} ${operation}`)).toEqual([
      "b.bin modify",
      "flip delete",
      "flip create",
    ]);
    expect((await select([], ["a.txt", "gone", "new"])).sha256).toBe(one.sha256);
  });

  it("of a file that the candidate does not have is refused", async () => {
    await expect(
      selectChanges(repo.ports, repo.base, candidate, hunks, [{ path: "other", hunks: "all" }]),
    ).rejects.toMatchObject({ code: "SELECTION_INVALID" });
  });
});
