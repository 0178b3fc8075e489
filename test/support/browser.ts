import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium as playwright } from "playwright-core";
import { diskFolder } from "./memory-folder.ts";

/** A real Chromium: the one named by VERBATIM_CHROMIUM, else the one inside the npm package. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const executablePath = await findChromium();
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"];
  return playwright.launch({
    executablePath,
    headless: true,
    args: [...args, "--disable-component-update", "--disable-sync", ...more],
  });
}

/** Where that Chromium is. */
export async function findChromium(): Promise<string> {
  return process.env["VERBATIM_CHROMIUM"] ?? (await unpackChromium());
}

/**
 * The package unpacks into the temporary folder and takes whatever lies there, half unpacked or of another version.
 * So it is given a fresh folder, which becomes the shared one of its version and user when it is complete.
 */
async function unpackChromium(): Promise<string> {
  const manifest = join(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))), "..", "..", "package.json");
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const shared = join(diskFolder(), `verbatim-chromium-${version}-${userInfo().uid}`);
  const place = join(shared, "chromium");
  if (existsSync(place)) return place;
  mkdirSync(diskFolder(), { recursive: true });
  const fresh = mkdtempSync(join(diskFolder(), "verbatim-chromium-new-"));
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = fresh;
  try {
    const { default: chromium } = await import("@sparticuz/chromium");
    await chromium.executablePath();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
  try {
    renameSync(fresh, shared);
  } catch (thrown) {
    if (!existsSync(place)) throw thrown;
    rmSync(fresh, { recursive: true });
  }
  return place;
}
