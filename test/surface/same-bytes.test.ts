import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { makeFolder, runCli } from "../support/cli.ts";

// Guards: time zone, locale and umask of a machine are in no output.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, "bin", "verbatim.js");

const MACHINES = [
  { TZ: "UTC", LC_ALL: "C" },
  { TZ: "Asia/Kolkata", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
  { TZ: "America/St_Johns", LC_ALL: "de_DE.UTF-8", LANG: "de_DE.UTF-8" },
] as const;

const GENERATE = `
import { createHash } from "node:crypto";
import { generateContracts } from "./tools/build-contracts.ts";
import { formatErrorPage } from "./tools/docs/error-page.ts";
const hash = createHash("sha256");
for (const [path, text] of await generateContracts()) hash.update(path + "\\n" + text);
hash.update(await formatErrorPage());
process.stdout.write(hash.digest("hex"));
`;

describe("the same bytes on every machine", () => {
  it("contracts and the page of errors, built in processes of their own", { timeout: 60_000 }, () => {
    const built = MACHINES.slice(0, 2).map((machine) =>
      execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", GENERATE], {
        cwd: ROOT,
        encoding: "utf8",
        env: { PATH: process.env["PATH"], ...machine },
      }),
    );
    expect(built[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(built[1]).toBe(built[0]);
  });

  it("an exported ledger, wherever it is exported", async () => {
    const cwd = join(makeFolder(), "work");
    mkdirSync(cwd);
    await runCli(["keys", "new", "mira"], { cwd });
    for (let i = 0; i < 2; i++) await runCli(["ledger", "checkpoint", "--key", "mira"], { cwd });
    const exports = await Promise.all(MACHINES.map((env) => runCli(["ledger", "export"], { cwd, env })));
    const [first, ...others] = exports.map(({ stdout }) => stdout);
    expect(first?.trimEnd().split("\n").length).toBe(2);
    for (const other of others) expect(other).toBe(first);
  });

  it.runIf(process.platform !== "win32")("a private key is closed to others under any umask", () => {
    const home = makeFolder();
    const script = `umask 000 && exec "${process.execPath}" "${BIN}" keys new mira --json`;
    const made = execFileSync("sh", ["-c", script], {
      cwd: home,
      encoding: "utf8",
      env: { PATH: process.env["PATH"], XDG_CONFIG_HOME: home },
    });
    const { private_file } = JSON.parse(made) as { private_file: string };
    expect(statSync(private_file).mode & 0o777).toBe(0o600);
  });
});
