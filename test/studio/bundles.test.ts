// A bundle that is dropped on the page gets the report of the command line, and nothing of it leaves the page.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Zippable, zipSync } from "fflate";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifyBundleFiles } from "../../src/verify.ts";
import { sampleBundle } from "../support/sample-bundle.ts";
import { enter, StudioBench, type StudioServer } from "../support/studio.ts";

interface Vector {
  readonly id: string;
  readonly input: { readonly files?: Readonly<Record<string, string>> };
  readonly expected: { readonly default?: object };
}

const VECTORS = (
  JSON.parse(readFileSync(new URL("../vectors/bundle.json", import.meta.url), "utf8")) as readonly Vector[]
).flatMap(({ id, input, expected }) =>
  input.files === undefined || expected.default === undefined ? [] : [{ id, files: input.files }],
);

const bench = new StudioBench();
const folder = mkdtempSync(join(tmpdir(), "verbatim-dropped-"));
let server: StudioServer;

beforeAll(async () => {
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
  rmSync(folder, { recursive: true, force: true });
});

const encode = (text: string) => new TextEncoder().encode(text);

async function dropZip(page: Page, files: Zippable): Promise<void> {
  const again = page.getByRole("button", { name: "Check another one" });
  if ((await again.count()) > 0) await again.click();
  const buffer = Buffer.from(zipSync(files, { mtime: new Date(2001, 0, 1) }));
  await page.getByTestId("choose-files").setInputFiles({ name: "bundle.zip", mimeType: "application/zip", buffer });
  await page.getByTestId("bundle-verdict").waitFor();
}

async function readReport(page: Page): Promise<unknown> {
  await page.getByRole("button", { name: "Copy the report" }).click();
  return JSON.parse(await page.evaluate<string>("navigator.clipboard.readText()"));
}

describe("a bundle in the page", () => {
  it("has the report of the command line for a folder, asks for nothing, and says so", async () => {
    const bundle = join(folder, "harbour");
    for (const [path, bytes] of sampleBundle()) {
      mkdirSync(dirname(join(bundle, path)), { recursive: true });
      writeFileSync(join(bundle, path), bytes);
    }
    const { window, watched, page } = await enter(bench, server, "/bundles");
    await window.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByTestId("drop-zone").waitFor();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByTestId("choose-folder").setInputFiles(bundle);
    await page.getByTestId("bundle-verdict").getByText("The bundle is sound.").waitFor();
    await page.getByText("Nothing was sent: 0 requests since the drop.").waitFor();
    const fromLine = await bench.verbatim("bundle", "verify", bundle, "--json");
    expect(await readReport(page)).toEqual(JSON.parse(fromLine.stdout));
    await page.getByRole("button", { name: "Show the text" }).first().click();
    await page.locator("main pre").first().waitFor();
    expect(asked).toEqual([]);
    // One letter in one artifact.
    const changed = [...sampleBundle().keys()].find((path) => path.startsWith("artifacts/"))!;
    writeFileSync(join(bundle, changed), "changed\n");
    await page.getByRole("button", { name: "Check another one" }).click();
    await page.getByTestId("choose-folder").setInputFiles(bundle);
    await page
      .getByTestId("bundle-verdict")
      .getByText(/^The bundle is not sound: \d+ problems?\.$/)
      .waitFor();
    const broken = await bench.verbatim("bundle", "verify", bundle, "--json");
    expect(await readReport(page)).toEqual(JSON.parse(broken.stdout));
    expect(asked).toEqual([]);
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("has for every vector, valid and invalid, the report that the library gives", async () => {
    expect(VECTORS.length).toBeGreaterThan(50);
    const { window, watched, page } = await enter(bench, server, "/bundles");
    await window.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByTestId("drop-zone").waitFor();
    for (const { id, files } of VECTORS) {
      const bytes = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, encode(text)]));
      await dropZip(page, bytes);
      if (!("bundle.json" in files)) {
        await page.getByTestId("bundle-verdict").getByText("There is no bundle.json in it.").waitFor();
        continue;
      }
      const expected = await verifyBundleFiles({ files: new Map(Object.entries(bytes)) });
      expect([id, await readReport(page)]).toEqual([id, JSON.parse(JSON.stringify(expected))]);
    }
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("refuses an archive that lies, links, leaves its folder, holds twins or unpacks without end, before it unpacks it", async () => {
    const { window, watched, page } = await enter(bench, server, "/bundles");
    await page.getByTestId("drop-zone").waitFor();
    const sound = Object.fromEntries(sampleBundle());
    const cases: readonly (readonly [Zippable, RegExp])[] = [
      [{ ...sound, "../away.txt": encode("away") }, /leaves its folder/],
      [{ ...sound, "Bundle.json": encode("{}") }, /two files of the same name/],
      [{ ...sound, link: [encode("bundle.json"), { os: 3, attrs: 0o120777 * 65_536 }] }, /contains a link/],
      [{ ...sound, "zeros.txt": new Uint8Array(8_000_000) }, /more than 200 times its size/],
      [{ "one/bundle.json": encode("{}"), "two/bundle.json": encode("{}") }, /more than one bundle\.json/],
    ];
    for (const [files, says] of cases) {
      await dropZip(page, files);
      await page.getByTestId("bundle-verdict").getByText(says).waitFor();
    }
    // A whole archive of which one byte was turned.
    const bytes = Buffer.from(zipSync(sound, { level: 0 }));
    const at = bytes.indexOf(Buffer.from('"bundle_id"'));
    bytes[at + 1] = bytes[at + 1]! ^ 1;
    await page.getByRole("button", { name: "Check another one" }).click();
    const payload = { name: "bundle.zip", mimeType: "application/zip", buffer: bytes };
    await page.getByTestId("choose-files").setInputFiles(payload);
    await page.getByTestId("bundle-verdict").getByText("The ZIP file is damaged.").waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});
