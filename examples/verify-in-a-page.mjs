// @ts-check
// A page that verifies bundles in the browser, and the few lines that serve it.
//
//     node verify-in-a-page.mjs                      serves the page until you press Ctrl+C
//     node verify-in-a-page.mjs --browser CHROMIUM   tries it in that browser; needs: npm install playwright-core
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { openWorkspace } from "verbatim-agent";
import { buildBundle } from "./build-a-bundle.mjs";
import { check, makeSample, put } from "./sample.mjs";

const PAGE = readFileSync(new URL("verify-in-a-page.html", import.meta.url));
const VERIFY = import.meta.resolve("verbatim-agent/verify");

/** The page, and the files of `verbatim-agent/verify` as they are in the package: no build step. */
const server = createServer((request, response) => {
  const path = request.url ?? "/";
  const script = /^\/verbatim\/((?:chunks\/)?[\w.-]+\.js)$/.exec(path)?.[1];
  if (path === "/") response.setHeader("content-type", "text/html").end(PAGE);
  else if (script === undefined) response.writeHead(404).end();
  else response.setHeader("content-type", "text/javascript").end(readFileSync(new URL(script, VERIFY)));
});

/**
 * Opens the page in a real browser and gives it a bundle, as it was built and with a changed byte.
 *
 * @param {string} address
 * @param {string} executablePath
 */
async function tryInBrowser(address, executablePath) {
  const { chromium } = await import("playwright-core");
  const sample = makeSample();
  const workspace = openWorkspace(sample.repository, { env: sample.env });
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const bundle = join(sample.base, "low-water");
    await buildBundle(workspace, bundle);
    const page = await browser.newPage();
    await page.goto(address);
    await page.setInputFiles("input", bundle);
    await page.getByText("The bundle verifies.").waitFor();
    check(true, "the bundle verifies in the browser");

    const changed = join(sample.base, "changed");
    cpSync(bundle, changed, { recursive: true });
    const [artifact] = readdirSync(join(changed, "artifacts"));
    put(join(changed, "artifacts", artifact ?? ""), "Low water is at midnight.\n");
    await page.setInputFiles("input", changed);
    await page.getByText("The bundle does not verify.").waitFor();
    const found = await page.getByRole("listitem").allTextContents();
    check(
      found.some((line) => line.startsWith("ARTIFACT_HASH_MISMATCH")),
      "a changed byte is found there too",
    );
  } finally {
    await browser.close();
    await workspace.close();
    sample.remove();
  }
}

await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
const bound = server.address();
const address = `http://127.0.0.1:${typeof bound === "object" ? bound?.port : 0}/`;
const browser = process.argv[process.argv.indexOf("--browser") + 1];
if (!process.argv.includes("--browser") || browser === undefined) console.log(`open ${address}`);
else await tryInBrowser(address, browser).finally(() => server.close());
