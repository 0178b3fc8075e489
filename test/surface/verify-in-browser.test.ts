import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as VerifyModule from "../../src/verify.ts";
import { launchBrowser } from "../support/browser.ts";
import { sampleBundle } from "../support/sample-bundle.ts";

/** `verbatim-agent/verify` in a real browser with WebCrypto: the same verdicts, and nothing is sent anywhere. */

type Verify = typeof VerifyModule;

let folder: string;
let server: Server;
let browser: Browser;
let page: Page;
const requests: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "verbatim-page-"));
  const build = await rolldown({
    input: new URL("../../src/verify.ts", import.meta.url).pathname,
    platform: "browser",
  });
  await build.write({ file: join(folder, "verify.js"), format: "es", codeSplitting: false });
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const isScript = request.url === "/verify.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? readFileSync(join(folder, "verify.js")) : "<!doctype html><title>verify</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await launchBrowser();
  const context = await browser.newContext({ locale: "en-US" });
  page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  // Loaded by the page itself: a dynamic import inside `evaluate` would be rewritten by the test runner.
  await page.addScriptTag({ type: "module", content: 'import * as verify from "/verify.js"; window.verify = verify;' });
  await page.waitForFunction("window.verify !== undefined");
});

afterAll(async () => {
  await browser?.close();
  server?.close();
  rmSync(folder, { recursive: true });
});

async function verifyInPage(files: Map<string, Uint8Array>, strict: boolean) {
  const entries = [...files].map(([path, bytes]) => [path, [...bytes]] as const);
  return page.evaluate(
    async ([given, isStrict]) => {
      const { verifyBundleFiles, replayBundleFiles } = (globalThis as unknown as { verify: Verify }).verify;
      const tree = { files: new Map(given.map(([path, bytes]) => [path, Uint8Array.from(bytes)])) };
      const report = await verifyBundleFiles(tree, { strict: isStrict });
      const replay = report.ok ? await replayBundleFiles(tree) : null;
      return {
        exit: report.exit_code,
        problems: report.problems.map(({ code }) => code),
        hash: replay?.replay_hash ?? null,
      };
    },
    [entries, strict] as const,
  );
}

describe("verifying in a browser", () => {
  it("passes the sample bundle strictly and replays it to the published hash", async () => {
    expect(await verifyInPage(sampleBundle(), true)).toEqual({
      exit: 0,
      problems: [],
      hash: "4cf8339efeec420cf5ab72ec898a091df7f0f99060d900f79a1b4cc56833d03b",
    });
  });

  it("finds a changed artifact", async () => {
    const files = sampleBundle();
    const path = [...files.keys()].find((one) => one.startsWith("artifacts/"))!;
    files.set(path, new TextEncoder().encode("changed\n"));
    const { exit, problems } = await verifyInPage(files, false);
    expect([exit, problems.includes("ARTIFACT_HASH_MISMATCH")]).toEqual([1, true]);
  });

  it("asks the network for nothing but its own page and script", () => {
    expect(new Set(requests.filter((url) => url !== "/favicon.ico"))).toEqual(new Set(["/", "/verify.js"]));
  });
});
