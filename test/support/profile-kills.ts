import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { verifyWorld } from "../../src/rooms/world/history/verify.ts";
import { importProfile } from "../../src/rooms/world/profile/profile.ts";
import { openFolder } from "../../src/rooms/world/profile/source.ts";
import { bundleChild } from "./child.ts";
import { profileFiles, writeProfile } from "./profile.ts";
import { openWorlds } from "./world.ts";

let program: Awaited<ReturnType<typeof bundleChild>>;

beforeAll(async () => {
  program = await bundleChild("test/support/profile-child.ts");
});

afterAll(() => program.remove());

/** Kills a process that carries a profile at its so-manieth sign of life; false when it was done before. */
function killAt(signs: number, args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, [program.file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let seen = 0;
  let isDone = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    seen += text.split("\n").length - 1;
    isDone ||= text.includes("done");
    if (seen >= signs) child.kill("SIGKILL");
  });
  return new Promise((resolve) => child.once("close", () => resolve(!isDone)));
}

/** Kills the import of a profile again and again, lets it end, and looks at what is there. */
export async function killCarriers(kills: number, chats: number, url = "") {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-carry-"));
  try {
    const profile = join(folder, "profile");
    writeProfile(profile, profileFiles(chats, 0));
    let killed = 0;
    // Odd signs are the beginnings of transactions, even ones their ends; each run gets a little further.
    for (let n = 0; n < kills; n++) if (await killAt(3 + n * 2 + (n % 3), [folder, url, profile])) killed++;
    await using worlds = await openWorlds({ folder, ...(url === "" ? {} : { url }) });
    const { ports } = worlds;
    const source = () => openFolder(ports.folders, profile);
    const { totals } = await importProfile(ports, await source(), "folder", false);
    const again = await importProfile(ports, await source(), "folder", false);
    const streams = await ports.store.read((tx) => tx.ledger.streams());
    const worldIds = streams.flatMap(({ stream }) => (stream.startsWith("world/w_") ? [stream.slice(6)] : []));
    const broken: string[] = [];
    for (const id of worldIds)
      for (const { code } of (await verifyWorld(ports, id)).findings) broken.push(`${id} ${code}`);
    return { killed, totals, again: again.totals, worlds: worldIds.length, broken };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
