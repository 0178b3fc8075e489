import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadSqlite, SqliteDatabase } from "../../adapters/sqlite/driver.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import { sliceText } from "../../core/text/index.ts";
import type { App } from "../app-type.ts";
import type { Composition } from "../compose.ts";

interface Step {
  readonly title: string;
  readonly lines: string[];
  readonly ok: boolean;
}

export interface Story {
  readonly ok: boolean;
  readonly folder: string | null;
  readonly steps: Step[];
  readonly next: string[];
}

interface Verified {
  readonly ok: boolean;
  readonly entries: number;
  readonly problems: readonly { readonly code: string; readonly stream: string; readonly position: number }[];
  readonly trust: { readonly verdict: string } | null;
}

const NOTES =
  "Lamp room, Gull Rock\nMira oils the gears on Monday.\nTomas winds the clock at noon.\nThe spare key hangs behind the map.\n";

/** Tells the story in a temporary folder with keys of its own; nothing of the user's is touched. */
export async function demonstrate(composition: Composition, keep: boolean): Promise<Story> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-demo-"));
  const env = { XDG_CONFIG_HOME: join(folder, "home"), XDG_STATE_HOME: join(folder, "home") };
  try {
    const root = join(folder, "gull-rock");
    const steps = [tellSlices(), ...(await tellLedger(composition, root, env))];
    return {
      ok: steps.every(({ ok }) => ok),
      folder: keep ? folder : null,
      steps,
      next: [
        "verbatim doctor            check this machine",
        "verbatim contract list     what is under contract",
        "verbatim --help            everything else",
      ],
    };
  } finally {
    if (!keep) rmSync(folder, { recursive: true });
  }
}

function tellSlices(): Step {
  const cut = sliceText(NOTES, "lines[1:3]");
  const refusals = ["ALL", "lines[0:9]"].map(
    (slice) => `${slice.padEnd(11)} -> ${codeOf(() => sliceText(NOTES, slice))}`,
  );
  return {
    title: "An address means exact bytes, and nothing without bounds",
    lines: [...cut.split("\n").map((line) => `lines[1:3]  -> ${line}`), ...refusals],
    ok:
      cut === "Mira oils the gears on Monday.\nTomas winds the clock at noon." &&
      refusals.every((line) => line.includes("SLICE_")),
  };
}

async function tellLedger(composition: Composition, root: string, env: NodeJS.ProcessEnv): Promise<Step[]> {
  const { mkdirSync } = await import("node:fs");
  mkdirSync(root, { recursive: true });
  const file = join(root, "noon.dsse.json");
  const policy = join(root, "trust.json");
  await using app = composition.open(root, env);
  await app.call("keys.new", { name: "keeper" });
  await app.call("keys.policy-init", { file: policy, keys: ["keeper"] });
  for (const out of [undefined, undefined, file]) {
    await app.call("ledger.checkpoint", out === undefined ? { key: "keeper" } : { key: "keeper", out });
  }
  const before = (await app.call("ledger.verify", { checkpoint: file, trust: policy })) as Verified;
  const signed: Step = {
    title: "What happened is a chain, and a signed checkpoint says how far it goes",
    lines: [`${before.entries} entries verified, the checkpoint is ${before.trust?.verdict ?? "missing"}`],
    ok: before.ok,
  };
  return [signed, await tellTampering(app)];
}

/** Whoever holds the file can drop the triggers; the chain shows it all the same. */
async function tellTampering(app: App): Promise<Step> {
  const database = new SqliteDatabase(await loadSqlite(), app.workspace.database, 1000);
  const attempt = "update ledger_entry set body = '{}' where idx = 1";
  const refused = codeOf(() => database.exec(attempt));
  for (const { name } of database
    .prepare("select name from sqlite_schema where type = 'trigger' and tbl_name = 'ledger_entry'")
    .all([]) as { name: string }[]) {
    database.exec(`drop trigger ${name}`);
  }
  database.exec(attempt);
  database.close();
  const after = (await app.call("ledger.verify", {})) as Verified;
  const first = after.problems[0];
  return {
    title: "Somebody rewrites history",
    lines: [
      `the database refuses: ${refused}`,
      "they drop the triggers and change an entry behind our back",
      first === undefined
        ? "and nobody notices"
        : `ledger verify: ${first.code} in stream ${first.stream} at position ${first.position}`,
    ],
    ok: refused === "STORE_REFUSED" && first?.code === "LEDGER_BODY_MISMATCH",
  };
}

function codeOf(run: () => unknown): string {
  try {
    run();
    return "allowed";
  } catch (thrown) {
    if (isVerbatimError(thrown)) return thrown.code;
    throw thrown;
  }
}
