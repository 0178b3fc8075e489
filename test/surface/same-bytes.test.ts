import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { generateContracts } from "../../tools/build-contracts.ts";
import { formatErrorPage } from "../../tools/docs/error-page.ts";
import { makeFolder, runCli } from "../support/cli.ts";
import { runHere } from "../support/cli-in-process.ts";
import { needs } from "../support/needs.ts";

// Guards: time zone, locale and umask of a machine are in no output.

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BIN = join(ROOT, "bin", "verbatim.js");

const MACHINES = [
  { TZ: "UTC", LC_ALL: "C" },
  { TZ: "Asia/Kolkata", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" },
  { TZ: "America/St_Johns", LC_ALL: "de_DE.UTF-8", LANG: "de_DE.UTF-8" },
] as const;

const GENERATE = `
import { generateContracts } from "./tools/build-contracts.ts";
import { formatErrorPage } from "./tools/docs/error-page.ts";
process.stdout.write(JSON.stringify([...(await generateContracts()), await formatErrorPage()]));
`;

function makeMessage(): object {
  const refs = ["@DOC/D3", "@DOC/D1", "@DOC/D0", "@DOC/D2"];
  return {
    intent: "read what is there",
    refs,
    ops: refs.map((target) => ({ type: "READ", target, params: {} })),
    budgets: { max_symbols: 9, max_sections: 9, max_bytes_expanded: 999, max_expands_per_step: 9 },
    required_outputs: [],
  };
}

describe("the same bytes on every machine", () => {
  it("contracts and the page of errors, built in another process, locale and time zone", async () => {
    const built = execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", GENERATE], {
      cwd: ROOT,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      env: { PATH: process.env["PATH"], ...MACHINES[1] },
    });
    const here = [...(await generateContracts()), await formatErrorPage()];
    expect(here.length).toBeGreaterThan(50);
    expect(JSON.parse(built)).toEqual(here);
  });

  it("an exported ledger, wherever it is exported", async () => {
    const cwd = join(makeFolder(), "work");
    mkdirSync(cwd);
    await runHere(["keys", "new", "mira"], { cwd });
    for (let i = 0; i < 2; i++) await runHere(["ledger", "checkpoint", "--key", "mira"], { cwd });
    const exports = await Promise.all(MACHINES.map((env) => runCli(["ledger", "export"], { cwd, env })));
    const [first, ...others] = exports.map(({ stdout }) => stdout);
    expect(first?.trimEnd().split("\n").length).toBe(2);
    for (const other of others) expect(other).toBe(first);
  });

  it("the bundle of a job, built in other folders, processes, locales and under other umasks", async () => {
    const bundles: Record<string, string>[] = [];
    for (const [i, env] of MACHINES.slice(0, 2).entries()) {
      const cwd = join(makeFolder(), "shed".repeat(i + 1));
      mkdirSync(join(cwd, "docs"), { recursive: true });
      // The order in which files are made differs; names sort differently in Turkish and by UTF-16.
      const files = [
        ["docs/\u{1f6a2}.md", "# Ship\n\nIt sails.\n"],
        ["docs/\uff21.md", "# Wide\n\nA letter."],
        ["docs/Ida.md", "# Ida\n\nShe waits.\n"],
        ["docs/ida.md", "# ida\n\nshe waits.\n"],
      ] as const;
      for (const [path, text] of i === 1 ? files.toReversed() : files) writeFileSync(join(cwd, path), text);
      writeFileSync(join(cwd, "verbatim.config.json"), '{"context":{"sources":["docs/*.md"]}}');
      writeFileSync(join(cwd, "message.json"), JSON.stringify(makeMessage()));
      await runCli(["index", "build"], { cwd, env });
      const symbols = files.map(([target_ref], n) => ({
        symbol_id: `@DOC/D${n}`,
        target_type: "FILE",
        target_ref,
        default_slice_policy: "head(3)",
      }));
      writeFileSync(join(cwd, "symbols.jsonl"), symbols.map((one) => `${JSON.stringify(one)}\n`).join(""));
      await runCli(["symbol", "import", "symbols.jsonl"], { cwd, env });
      const run = ["--run-id", "3f0c9a52-7b1e-4c60-9d2a-5e8f1b7c6d40", "--workers", String(i + 1), "--json"];
      const done = await runCli(["job", "submit", "message.json", ...run], { cwd, env });
      const { job_id } = JSON.parse(done.stdout) as { job_id: string };
      const umask = ["000", "077"][i]!;
      execFileSync(
        "sh",
        [
          "-c",
          `umask ${umask} && exec "$0" "$@"`,
          process.execPath,
          BIN,
          "bundle",
          "build",
          job_id,
          "--out",
          "b",
          "--with-receipts",
        ],
        {
          cwd,
          env: { ...process.env, ...env },
        },
      );
      const names = readdirSync(join(cwd, "b"), { recursive: true, encoding: "utf8" }).toSorted();
      const read = (name: string) =>
        statSync(join(cwd, "b", name)).isFile() ? readFileSync(join(cwd, "b", name), "latin1") : "";
      expect(statSync(join(cwd, "b", "bundle.json")).mode & 0o777).toBe(0o644);
      bundles.push(Object.fromEntries(names.map((name) => [name, read(name)])));
    }
    expect(Object.keys(bundles[0]!)).toHaveLength(6);
    expect(bundles[1]).toEqual(bundles[0]);
  });

  it(
    "a private key is closed to others under any umask",
    needs(process.platform === "win32" ? "Windows has no umask" : null),
    () => {
      const home = makeFolder();
      const script = `umask 000 && exec "${process.execPath}" "${BIN}" keys new mira --json`;
      const made = execFileSync("sh", ["-c", script], {
        cwd: home,
        encoding: "utf8",
        env: { PATH: process.env["PATH"], XDG_CONFIG_HOME: home },
      });
      const { private_file } = JSON.parse(made) as { private_file: string };
      expect(statSync(private_file).mode & 0o777).toBe(0o600);
    },
  );
});
