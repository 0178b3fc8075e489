// What is handed in to a run: whether it is taken, what is kept of it, and what the run then says.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BareRuns, openBareRuns } from "../../../../../test/support/bare-run.ts";
import { GOOD_PATCH, GUARDRAILS, REQUEST } from "../../../../../test/support/sample-repository.ts";
import { nodeCrypto } from "../../../../adapters/crypto/node-crypto.ts";
import type { ContextPack } from "../../artifacts/context-pack.ts";
import { readEvents } from "../record/run-log.ts";
import type { Run } from "../run.ts";
import {
  fulfilPrompt,
  judgeInRun,
  MOST_ARTIFACT_BYTES,
  requireVerbatimPack,
  storeArtifact,
  toStoredBytes,
} from "./receive.ts";

const PATCH = "artifacts/diff.patch";
const PLAN = "artifacts/PLAN.md";
const REQUESTED = "artifacts/file_request.json";
const sha = (text: string) => nodeCrypto.sha256(text);
const bytes = (content: string) => new TextEncoder().encode(content);

let bare: BareRuns;
beforeEach(async () => {
  bare = await openBareRuns();
});
afterEach(() => bare.remove());

const events = (run: Run) => readEvents(run).map(({ event, path }) => `${event} ${path}`);
const text = (run: Run, path: string) => {
  const found = run.read(path);
  return found === null ? null : Buffer.from(found).toString();
};

describe("what is kept", () => {
  it("is something, and not too much", () => {
    expect(() => toStoredBytes(PLAN, new Uint8Array(0))).toThrow(
      expect.objectContaining({ code: "ARTIFACT_EMPTY", where: PLAN }) as Error,
    );
    expect(toStoredBytes(PLAN, new Uint8Array(16 * 1024 * 1024)).bytes).toHaveLength(MOST_ARTIFACT_BYTES);
    expect(() => toStoredBytes(PLAN, new Uint8Array(16 * 1024 * 1024 + 1))).toThrow(
      expect.objectContaining({ code: "ARTIFACT_TOO_LARGE", where: PLAN }) as Error,
    );
  });

  it("is what was given; only a patch gets the line feed it lacks", () => {
    for (const [path, given, kept] of [
      [PATCH, "a", "a\n"],
      [PATCH, "a\n", "a\n"],
      [PLAN, "a", "a"],
    ] as const) {
      expect(toStoredBytes(path, bytes(given))).toEqual({ bytes: bytes(kept), newlineAdded: given !== kept });
    }
  });
});

it("a patch is left to the gate, and everything else is judged against the run", () => {
  const run = bare.make("one");
  expect(judgeInRun(run, PATCH, bytes("no patch"))).toEqual({ errors: [], warnings: [] });
  expect(judgeInRun(run, REQUESTED, bytes(REQUEST)).errors).toEqual([]);
  run.folder.write("artifacts/guardrails.md", GUARDRAILS.replace("max_files: 20", "max_files: 2"));
  expect(judgeInRun(run, REQUESTED, bytes(REQUEST)).errors).toMatchObject([
    { code: "FILE_REQUEST_BUDGET_ABOVE_GUARDRAILS" },
  ]);
});

describe("a pack that somebody else made", () => {
  const FILE = { path: "src/greet.js", why: "requested:planning", content: "hello\n" };
  const PACK: ContextPack = {
    schema_version: "ctcp-context-pack-v1",
    goal: "greet politely",
    repo_slug: "repo",
    summary: "in other words",
    files: [FILE],
    omitted: [],
  };
  let run: Run;
  beforeEach(() => {
    run = bare.make("one");
    mkdirSync(join(bare.repoRoot, "src"));
    writeFileSync(join(bare.repoRoot, "src/greet.js"), "hello\n");
    run.folder.write(REQUESTED, REQUEST);
  });
  const judge = (pack: unknown) => requireVerbatimPack(run, bytes(JSON.stringify(pack)));

  it("is taken where it has what the librarian has, word for word", () => {
    expect(judge(PACK)).toBeUndefined();
  });

  it.each<[string, object, string]>([
    ["another text", { files: [{ ...FILE, content: "hello \n" }] }, "/files/0/content"],
    ["another reason", { files: [{ ...FILE, why: "because" }] }, "/files/0/why"],
    ["a file too few", { files: [] }, "/files/0"],
    ["a file too many", { files: [FILE, { ...FILE, path: "src/list.js" }] }, "/files/1"],
    ["something left out", { omitted: [{ path: "x", reason: "denied", detail: "" }] }, "/omitted/0"],
  ])("is refused with %s, and the place is named", (_, more, at) => {
    expect(() => judge({ ...PACK, ...more })).toThrow(
      expect.objectContaining({
        code: "CONTEXT_PACK_NOT_VERBATIM",
        message: `the pack differs at ${at}`,
        where: `artifacts/context_pack.json#${at}`,
        details: { at },
      }) as Error,
    );
  });

  it("is left to the other checks where it is none, or where nothing valid was asked for", () => {
    const wrong = { ...PACK, files: [] };
    expect(judge({ files: 1 })).toBeUndefined();
    run.folder.write(REQUESTED, "{}");
    expect(judge(wrong)).toBeUndefined();
    run.folder.remove(REQUESTED);
    expect(judge(wrong)).toBeUndefined();
    // Neither is there a request nor a pack: nothing is compared with nothing.
    expect(judge({ files: 1 })).toBeUndefined();
  });

  it("is held against the request it answers", async () => {
    const session = await bare.session(run);
    await storeArtifact(session, "artifacts/context_pack.json", bytes(JSON.stringify(PACK)), "librarian");
    expect(bare.again(run).state.context_pack).toEqual({ file_request_sha256: sha(REQUEST) });
    await storeArtifact(session, PLAN, bytes("plan"), "operator");
    run.folder.write(REQUESTED, `${REQUEST} `);
    await storeArtifact(session, "artifacts/a.md", bytes("a"), "operator");
    expect(bare.again(run).state.context_pack).toEqual({ file_request_sha256: sha(REQUEST) });
  });
});

describe("a patch of which something is left out", () => {
  const direct = (leave_out: string[]) => ({ direct: { verify: null, files: [], leave_out } });
  const other = GOOD_PATCH.replaceAll("src/greet.js", "docs/greet.js");

  it("is kept without it, the whole one is set aside, and the paths are told", async () => {
    const run = bare.make("one", direct(["docs/"]));
    await storeArtifact(await bare.session(run), PATCH, bytes(GOOD_PATCH + other), "patchmaker");
    expect(text(run, PATCH)).toBe(GOOD_PATCH);
    const whole = `superseded/whole_patch.${sha(GOOD_PATCH + other).slice(0, 12)}`;
    expect([run.folder.list("superseded"), text(run, whole)]).toEqual([[whole], GOOD_PATCH + other]);
    expect(readEvents(run)[0]).toMatchObject({ event: "PATCH_RECEIVED", left_out: ["docs/greet.js"] });
  });

  it("is refused when nothing is left, and is kept whole where nothing is left out", async () => {
    const empty = bare.make("one", direct(["docs/"]));
    await expect(storeArtifact(await bare.session(empty), PATCH, bytes(other), "patchmaker")).rejects.toMatchObject({
      code: "ARTIFACT_EMPTY",
      message: "everything in the patch is left out",
      where: PATCH,
    });
    expect([empty.read(PATCH), empty.folder.list("superseded"), events(empty)]).toEqual([null, [], []]);
    const whole = bare.make("two", direct(["other/"]));
    await storeArtifact(await bare.session(whole), PATCH, bytes(other), "patchmaker");
    expect([text(whole, PATCH), whole.folder.list("superseded")]).toEqual([other, []]);
    await storeArtifact(await bare.session(empty), "artifacts/a.md", bytes(other), "operator");
    expect(text(empty, "artifacts/a.md")).toBe(other);
  });
});

describe("an artifact that is handed in", () => {
  it("is kept with its hash; another one takes its place and the old one is set aside, the same one is not", async () => {
    const run = bare.make("one");
    const session = await bare.session(run);
    await storeArtifact(session, "artifacts/a.md", bytes("one"), "operator");
    await storeArtifact(session, "artifacts/a.md", bytes("one"), "operator");
    expect(run.folder.list("superseded")).toEqual([]);
    await storeArtifact(session, "artifacts/a.md", bytes("two"), "operator", { by: "hand" });
    expect(run.folder.list("superseded")).toEqual([`superseded/artifacts_a.md.${sha("one").slice(0, 12)}`]);
    expect(text(run, "artifacts/a.md")).toBe("two");
    expect(bare.again(run).state.artifacts).toEqual({ "artifacts/a.md": sha("two") });
    expect(events(run)).toEqual([
      "ARTIFACT_ACCEPTED artifacts/a.md",
      "ARTIFACT_CHANGED artifacts/a.md",
      "ARTIFACT_CHANGED artifacts/a.md",
    ]);
    expect(readEvents(run)[2]).toMatchObject({ role: "operator", sha256: sha("two"), by: "hand" });
  });

  it("and is a review or a plan is called that, and a review that was judged is judged again", async () => {
    const record = { verdict: "APPROVE" } as never;
    const run = bare.make("one", { reviews: { "reviews/REVIEW_COST.md": record, "reviews/other.md": record } });
    const session = await bare.session(run);
    await storeArtifact(session, "reviews/REVIEW_COST.md", bytes("same words"), "operator");
    expect(Object.keys(run.state.reviews)).toEqual(["reviews/other.md"]);
    await storeArtifact(session, PLAN, bytes("plan"), "operator");
    expect(Object.keys(run.state.reviews)).toEqual(["reviews/other.md"]);
    expect(events(run)).toEqual(["REVIEW_WRITTEN reviews/REVIEW_COST.md", `PLAN_SIGNED ${PLAN}`]);
  });

  it("and is a patch ends with a line feed, says when that was added, and is no artifact of the plan", async () => {
    const run = bare.make("one");
    await storeArtifact(await bare.session(run), PATCH, bytes("diff --git a/a b/a"), "operator");
    expect(text(run, PATCH)).toBe("diff --git a/a b/a\n");
    expect(run.state.artifacts).toEqual({});
    expect(readEvents(run)[0]).toMatchObject({ event: "PATCH_RECEIVED", final_newline_added: true });
    await storeArtifact(await bare.session(run), PATCH, bytes("diff --git a/a b/a\n"), "operator");
    expect(readEvents(run)[1]).not.toHaveProperty("final_newline_added");
    expect(readEvents(run)[1]).not.toHaveProperty("left_out");
  });

  it("fulfils the prompt that asked for it, and no other", async () => {
    const prompt = { file: "outbox/PROMPT.md", target_sha256: null };
    const run = bare.make("one", { prompts: { "artifacts/a.md": prompt, "artifacts/b.md": prompt } });
    const session = await bare.session(run);
    await fulfilPrompt(session, "artifacts/a.md");
    await fulfilPrompt(session, "artifacts/c.md");
    expect(events(run)).toEqual([]);
    await storeArtifact(session, "artifacts/a.md", bytes("one"), "operator");
    expect(Object.keys(run.state.prompts!)).toEqual(["artifacts/b.md"]);
    expect(events(run)).toEqual(["ARTIFACT_ACCEPTED artifacts/a.md", "OUTBOX_PROMPT_FULFILLED outbox/PROMPT.md"]);
  });

  it("and is a patch fulfils no prompt by itself", async () => {
    const prompt = { file: "outbox/PROMPT.md", target_sha256: null };
    const run = bare.make("one", { prompts: { [PATCH]: prompt } });
    await storeArtifact(await bare.session(run), PATCH, bytes("diff"), "patchmaker");
    expect(Object.keys(run.state.prompts!)).toEqual([PATCH]);
    expect(events(run)).toEqual([`PATCH_RECEIVED ${PATCH}`]);
  });
});
