// What validate says about one file, and about all that a run has.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BareRuns, openBareRuns } from "../../../../../test/support/bare-run.ts";
import { GUARDRAILS, makeDraft, REASONS, REQUEST, RESULTS } from "../../../../../test/support/sample-repository.ts";
import { zipper } from "../../../../adapters/disk/bundles/zip.ts";
import type { Run } from "../run.ts";
import { validateTarget } from "./validate.ts";

const files = new Map<string, string | Uint8Array>();
const read = (path: string) => Promise.resolve(Buffer.from(files.get(path)!));
let bare: BareRuns;
beforeEach(async () => {
  files.clear();
  bare = await openBareRuns({ files: { read } });
});
afterEach(() => bare.remove());

const judge = (target: string, more: object = {}) =>
  validateTarget(bare.ports, { target, kind: null, checkEvidence: false, againstRepo: false, ...more });
/** Each file that was judged, with the codes of what is wrong with it. */
const codes = async (target: string, more: object = {}) =>
  (await judge(target, more)).map(({ kind, errors }) => [kind, ...errors.map(({ code }) => code)].join(" "));

describe("one file", () => {
  it("is known by its name, or by the kind that is given", async () => {
    files.set("guardrails.md", GUARDRAILS).set("what.txt", GUARDRAILS).set("one", REQUEST);
    expect(await judge("guardrails.md")).toEqual([
      { file: "guardrails.md", kind: "guardrails", errors: [], warnings: [] },
    ]);
    expect(await codes("what.txt", { kind: "guardrails" })).toEqual(["guardrails"]);
    expect(await codes("guardrails.md", { kind: "reasons" })).toEqual([expect.stringMatching(/^reasons \w+/)]);
    bare.make("one");
    expect(await codes("one", { kind: "file_request" })).toEqual(["file_request"]);
    // A run may have such a name too.
    bare.make("guardrails.md");
    expect(await codes("guardrails.md")).toEqual(["guardrails"]);
  });

  it.each([
    ["what.txt", null, 'the name "what.txt" does not say what kind of file it is'],
    ["guardrails.md", "nonsense", 'there is no kind "nonsense"'],
  ])("of no kind is refused: %s as %s", async (target, kind, message) => {
    files.set(target, GUARDRAILS);
    await expect(judge(target, { kind })).rejects.toMatchObject({
      code: "ARTIFACT_UNKNOWN",
      message,
      fix: expect.stringContaining("--kind guardrails|") as string,
    });
  });

  it("that is a bundle has every entry it must have", async () => {
    const names = ["TRACE.md", "artifacts/PLAN.md", "artifacts/diff.patch", "artifacts/verify_report.json"];
    const pack = (entries: string[]) => zipper.pack(entries.map((name) => ({ name, bytes: new Uint8Array() })));
    files.set("a.zip", pack([...names, "events.jsonl", "reviews/", "outbox/"]));
    files.set("b.zip", pack([...names, "reviews/", "outbox/"])).set("what.txt", "no zip");
    expect(await codes("a.zip")).toEqual(["failure_bundle"]);
    expect(await judge("b.zip")).toMatchObject([
      { errors: [{ code: "BUNDLE_ENTRY_MISSING", file: "b.zip", message: "the entry events.jsonl is missing" }] },
    ]);
    expect(await codes("what.txt", { kind: "failure_bundle" })).toEqual(["failure_bundle BUNDLE_UNREADABLE"]);
    await expect(codes("a.zip", { kind: "nonsense" })).rejects.toMatchObject({ code: "ARTIFACT_UNKNOWN" });
  });

  it("is looked for where no run is meant, and an error of the program is not taken for that", async () => {
    files.set("guardrails", GUARDRAILS);
    expect(await codes("guardrails")).toEqual(["guardrails"]);
    bare.make("guardrails").folder.write("RUN.json", "{");
    await expect(judge("guardrails")).rejects.toMatchObject({ code: "RUN_CORRUPT" });
    files.set("-", REASONS);
    await expect(judge("-")).rejects.toMatchObject({ code: "ARTIFACT_UNKNOWN" });
  });
});

describe("a run", () => {
  let run: Run;
  beforeEach(async () => {
    run = bare.make("one");
    const session = await bare.session(run);
    for (const event of ["FIRST", "SECOND"]) await session.event("operator", event, "a");
  });

  it("has every artifact judged that is there, and its log", async () => {
    expect(await codes("one")).toEqual(["events", "ledger"]);
    run.folder.write("artifacts/guardrails.md", GUARDRAILS.replace("max_files: 20", "max_files: 2"));
    run.folder.write("artifacts/file_request.json", REQUEST);
    run.folder.write("failure_bundle.zip", "no zip");
    run.folder.write("artifacts/diff.patch", "no patch");
    expect(await codes("one", { againstRepo: true })).toEqual([
      "guardrails",
      "file_request FILE_REQUEST_BUDGET_ABOVE_GUARDRAILS",
      "events",
      "ledger",
      "failure_bundle BUNDLE_UNREADABLE",
    ]);
  });

  it("has a log that is the ledger's, line for line", async () => {
    const text = Buffer.from(run.read("events.jsonl")!).toString();
    const [first, second] = text.split("\n");
    const ledger = async (log: string | null) => {
      if (log === null) run.folder.remove("events.jsonl");
      else run.folder.write("events.jsonl", log);
      return (await judge("one"))
        .find(({ kind }) => kind === "ledger")!
        .errors.map(({ line, message }) => [line, message]);
    };
    const differs = "the ledger has a different event here";
    expect(await ledger(text)).toEqual([]);
    expect(await ledger(null)).toEqual([[1, differs]]);
    expect(await ledger(`${first}\n`)).toEqual([[2, differs]]);
    expect(await ledger(`${first}\n${first}\n`)).toEqual([[2, differs]]);
    expect(await ledger(`${first}\n{\n`)).toEqual([[2, differs]]);
    expect(await ledger(`${text}${second}\n`)).toEqual([[3, "the ledger has no such event"]]);
  });

  it("has a plan whose references lead somewhere, once all three files are there and valid", async () => {
    const checked = async () => (await codes("one")).filter((one) => one.startsWith("plan_check"));
    run.save({ direct: { verify: [["true"]], files: [], leave_out: [] } });
    run.folder.write("artifacts/PLAN_draft.md", makeDraft({ Results: "R002" }));
    run.folder.write("artifacts/REASONS.md", REASONS);
    expect(await checked()).toEqual([]);
    run.folder.write("artifacts/EXPECTED_RESULTS.md", RESULTS);
    expect(await checked()).toEqual([expect.stringMatching(/^plan_check \w+/)]);
    expect((await checked())[0]).not.toContain("_INVALID");
    run.folder.write("artifacts/PLAN_draft.md", "no plan");
    expect(await checked()).toEqual([]);
  });

  it("has the evidence it names, in itself or in the working tree, where that is asked for", async () => {
    run.folder.write("artifacts/EXPECTED_RESULTS.md", RESULTS);
    expect((await codes("one")).filter((one) => one.startsWith("evidence"))).toEqual([]);
    const evidence = async () =>
      (await judge("one", { checkEvidence: true })).find(({ kind }) => kind === "evidence")!.errors;
    expect(await evidence()).toMatchObject([
      { code: "EVIDENCE_MISSING", key: "R001", item: "src/greet.js", message: "src/greet.js does not exist" },
    ]);
    run.folder.write("src/greet.js", "");
    expect(await evidence()).toEqual([]);
    bare.ports.repoFiles.put("there.js", new Uint8Array(1), "100644");
    run.folder.write("artifacts/EXPECTED_RESULTS.md", RESULTS.replace("src/greet.js", "there.js, gone.js"));
    expect(await evidence()).toMatchObject([{ item: "gone.js" }]);
    run.folder.remove("artifacts/EXPECTED_RESULTS.md");
    expect(await evidence()).toEqual([]);
  });
});
