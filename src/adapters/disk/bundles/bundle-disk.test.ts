import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { diskFolder } from "../../../../test/support/memory-folder.ts";
import { sampleBundle } from "../../../../test/support/sample-bundle.ts";
import { verifyBundle } from "../../../rooms/jobs/bundle/bundle-verify.ts";
import { nodeCrypto } from "../../crypto/node-crypto.ts";
import { findBundle, openBundleFolder } from "./bundle-folder.ts";
import { createBundleFolder } from "./bundle-target.ts";

/** Bundles on a real disk: nothing is followed, nothing is half there. */

let base: string;

beforeEach(() => {
  base = mkdtempSync(join(diskFolder(), "verbatim-bundle-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
});

function writeSample(): string {
  const folder = join(base, "sample");
  mkdirSync(join(folder, "artifacts"), { recursive: true });
  for (const [path, bytes] of sampleBundle()) writeFileSync(join(folder, path), bytes);
  return folder;
}

const firstArtifact = [...sampleBundle().keys()].find((path) => path.startsWith("artifacts/"))!;

async function codesOf(folder: string, mode: "default" | "strict" = "default"): Promise<string[]> {
  const report = await verifyBundle(nodeCrypto, openBundleFolder(folder), { mode });
  return report.problems.map(({ code }) => code);
}

describe("reading a bundle from disk", () => {
  it("is named by its folder or its manifest, and by nothing else", () => {
    const folder = writeSample();
    expect(findBundle(folder)).toEqual({ folder });
    expect(findBundle(join(folder, "bundle.json"))).toEqual({ folder });
    expect(findBundle(join(folder, firstArtifact))).toEqual({ problem: "MANIFEST_NAME" });
    expect(findBundle(join(base, "nothing"))).toEqual({ problem: "BUNDLE_NOT_FOUND" });
  });

  it("verifies strictly", async () => {
    expect(await codesOf(writeSample(), "strict")).toEqual([]);
  });

  it("refuses an artifact that is a link to the right bytes", async () => {
    const folder = writeSample();
    writeFileSync(join(base, "elsewhere"), readFileSync(join(folder, firstArtifact)));
    rmSync(join(folder, firstArtifact));
    symlinkSync(join(base, "elsewhere"), join(folder, firstArtifact));
    expect(await codesOf(folder)).toEqual(["ARTIFACT_NOT_REGULAR"]);
  });

  it("refuses artifacts behind a linked folder", async () => {
    const folder = writeSample();
    mkdirSync(join(base, "moved"));
    for (const name of readdirSync(join(folder, "artifacts"))) {
      writeFileSync(join(base, "moved", name), readFileSync(join(folder, "artifacts", name)));
    }
    rmSync(join(folder, "artifacts"), { recursive: true });
    symlinkSync(join(base, "moved"), join(folder, "artifacts"));
    expect(new Set(await codesOf(folder))).toEqual(new Set(["ARTIFACT_NOT_REGULAR"]));
  });

  it("refuses a manifest that is a link", async () => {
    const folder = writeSample();
    writeFileSync(join(base, "manifest"), readFileSync(join(folder, "bundle.json")));
    rmSync(join(folder, "bundle.json"));
    symlinkSync(join(base, "manifest"), join(folder, "bundle.json"));
    expect(await codesOf(folder)).toEqual(["MANIFEST_NOT_REGULAR"]);
  });

  it.each([
    ["ends inside a character", Buffer.concat([Buffer.alloc(3_000_000, "a"), Buffer.from([0xe2, 0x82])]), false],
    ["has a character across every piece", Buffer.from("é€😀".repeat(400_000)), true],
    [
      "has one bad byte in the middle",
      Buffer.concat([Buffer.alloc(1_500_000, "a"), Buffer.from([0xff]), Buffer.alloc(9)]),
      false,
    ],
  ])("judges a large file that %s", async (_, bytes, utf8) => {
    writeFileSync(join(base, "large"), bytes);
    expect(await openBundleFolder(base).inspect("large")).toEqual({
      sha256: nodeCrypto.sha256(bytes),
      bytes: bytes.length,
      newline: false,
      utf8,
    });
  });
});

describe("putting a bundle in place", () => {
  const fill = async (_: string, sink: { write(path: string, bytes: Uint8Array): Promise<void> }) => {
    await sink.write("bundle.json", new Uint8Array([10]));
    await sink.write("artifacts/a.txt", new Uint8Array([97, 10]));
  };

  it("makes the whole folder, also over an empty one", async () => {
    mkdirSync(join(base, "empty"));
    for (const name of ["new", "empty"]) await createBundleFolder(join(base, name), 0, fill);
    expect(readdirSync(base).sort()).toEqual(["empty", "new"]);
    expect(readdirSync(join(base, "empty")).sort()).toEqual(["artifacts", "bundle.json"]);
  });

  it.each(["file", "full"])("leaves a target alone that is in the way: %s", async (name) => {
    writeFileSync(join(base, "file"), "mine");
    mkdirSync(join(base, "full"));
    writeFileSync(join(base, "full", "note"), "mine");
    await expect(createBundleFolder(join(base, name), 0, fill)).rejects.toThrowError(
      expect.objectContaining({ code: "BUNDLE_TARGET_NOT_EMPTY" }),
    );
    expect([readFileSync(join(base, "file"), "utf8"), readdirSync(join(base, "full"))]).toEqual(["mine", ["note"]]);
    expect(readdirSync(base).sort()).toEqual(["file", "full"]);
  });

  it("leaves nothing when filling it fails", async () => {
    const failing = async (folder: string, sink: Parameters<typeof fill>[1]) => {
      await fill(folder, sink);
      throw new Error("the lamp went out");
    };
    await expect(createBundleFolder(join(base, "out"), 0, failing)).rejects.toThrow("the lamp went out");
    expect(readdirSync(base)).toEqual([]);
  });

  it("says which folder is missing", async () => {
    await expect(createBundleFolder(join(base, "nowhere", "out"), 0, fill)).rejects.toThrowError(
      expect.objectContaining({ code: "FILE_NOT_FOUND", where: join(base, "nowhere") }),
    );
  });

  it("removes what a dead build left, and only that", async () => {
    const dead = join(base, ".out.tmp-4194304-00");
    const young = join(base, ".out.tmp-4194304-01");
    const alive = join(base, `.out.tmp-${process.pid}-02`);
    for (const folder of [dead, young, alive]) mkdirSync(folder);
    for (const folder of [dead, alive]) utimesSync(folder, 1, 1);
    utimesSync(young, 3000, 3000);
    await createBundleFolder(join(base, "out"), 3_001_000, fill);
    expect([dead, young, alive].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  });
});
