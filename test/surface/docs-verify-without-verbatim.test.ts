import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder, runCli } from "../support/cli.ts";
import { needs } from "../support/needs.ts";
import { sampleBundle } from "../support/sample-bundle.ts";

/** The page "Verify a bundle without Verbatim", run as it stands, with nothing of ours in the commands. */

const page = readFileSync(new URL("../../docs/guides/verify-without-verbatim.md", import.meta.url), "utf8");
const script = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, commands]) => commands).join("");
const TOOLS = ["bash", "jq", "openssl", "sha256sum", "xxd", "base64"];
const missing = TOOLS.filter((tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0);

async function makeSignedBundle(): Promise<string> {
  const folder = join(makeFolder(), "work");
  mkdirSync(join(folder, "rules", "artifacts"), { recursive: true });
  for (const [path, bytes] of sampleBundle()) writeFileSync(join(folder, "rules", path), bytes);
  const key = JSON.parse((await runCli(["keys", "new", "mira", "--json"], { cwd: folder })).stdout) as {
    public_file: string;
  };
  const signed = await runCli(["bundle", "attest", "rules", "--key", "mira"], { cwd: folder });
  expect([signed.exit, signed.stderr]).toEqual([0, ""]);
  writeFileSync(join(folder, "mira.pub"), readFileSync(key.public_file));
  return folder;
}

function run(folder: string): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "--noprofile", "-euo", "pipefail", "-c", script], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, output: stdout + stderr };
}

describe(
  "verifying a bundle with standard tools",
  needs(missing.length > 0 ? `not installed: ${missing.join(", ")}` : null),
  () => {
    it("passes for a bundle that we built and signed", async () => {
      const { status, output } = run(await makeSignedBundle());
      expect(output).toContain("Signature Verified Successfully");
      expect([status, output.trimEnd().split("\n").at(-1)]).toEqual([
        0,
        "the bundle is intact and signed by the holder of mira.pub",
      ]);
    });

    it.each<[string, (folder: string) => void]>([
      [
        "an artifact was changed",
        (folder) => execFileSync("sh", ["-c", "for f in rules/artifacts/*; do echo x >> $f; done"], { cwd: folder }),
      ],
      [
        "the manifest was changed",
        (folder) => execFileSync("sed", ["-i", "s/READ_SECTION/READ_SECTIOM/", "rules/bundle.json"], { cwd: folder }),
      ],
      [
        "the attestation is about another file",
        (folder) =>
          execFileSync(
            "sh",
            ["-c", "jq -c '.payload = (\"{}\" | @base64)' rules.dsse.json > x && mv x rules.dsse.json"],
            { cwd: folder },
          ),
      ],
    ])("fails when %s", async (_, tamper) => {
      const folder = await makeSignedBundle();
      tamper(folder);
      expect(run(folder).status).not.toBe(0);
    });
  },
);
