// The generated files below contracts/: fresh, reproducible, and strict at every depth.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { formatOperationSchemas } from "../../src/app/hall/contract-files.ts";
import { buildContracts, CONTRACTS_FOLDER, generateContracts, runContracts } from "../../tools/build-contracts.ts";

const TOOL = fileURLToPath(new URL("../../tools/build-contracts.ts", import.meta.url));

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-contracts-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("the published schemas", () => {
  it("are fresh", async () => {
    expect(buildContracts(CONTRACTS_FOLDER, await generateContracts(), true)).toEqual([]);
  });

  it("name their draft, their object and every code", () => {
    const schema = JSON.parse(readFileSync(join(CONTRACTS_FOLDER, "context/symbol.schema.json"), "utf8"));
    expect(Object.keys(schema).slice(0, 4)).toEqual(["$schema", "$id", "title", "description"]);
    expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(schema.$id).toBe("urn:verbatim:contract:context:symbol");
    expect(schema["x-codes"]).toHaveProperty("SLICE_UNBOUNDED");
  });

  it("have the configuration outside the folders of the rooms", async () => {
    expect((await generateContracts()).has("config.schema.json")).toBe(true);
  });

  it("describe an operation by what it takes and what it answers", () => {
    const operation = { name: "demo.echo", summary: "Says it again.", effect: "read" as const };
    const shape = z.strictObject({ text: z.string().default("hello") });
    const files = formatOperationSchemas([{ ...operation, input: shape, output: shape }]);
    const text = files.get("operations/demo.echo.schema.json") ?? "";
    const schema = JSON.parse(text);
    expect(schema.$id).toBe("urn:verbatim:operation:demo.echo");
    expect(schema.$defs.input).not.toHaveProperty("required");
    expect(schema.$defs.output.required).toEqual(["text"]);
    expect(text.endsWith("}\n")).toBe(true);
  });
});

describe("building the contracts", () => {
  it("writes what is missing, repairs what differs, removes what belongs to nothing, and leaves the rest", async () => {
    const folder = makeFolder();
    const files = await generateContracts();
    mkdirSync(join(folder, "jobs/message/valid"), { recursive: true });
    writeFileSync(join(folder, "jobs/message/valid/mine.json"), "{}\n");
    writeFileSync(join(folder, "jobs/message.schema.json"), "edited by hand\n");
    writeFileSync(join(folder, "jobs/gone.schema.json"), "{}\n");
    expect(buildContracts(folder, files, true)).toEqual(
      expect.arrayContaining([
        "jobs/message.schema.json: differs from its source",
        "jobs/gone.schema.json: belongs to no contract",
        "context/section.schema.json: missing",
      ]),
    );
    expect(readFileSync(join(folder, "jobs/message.schema.json"), "utf8")).toBe("edited by hand\n");
    expect(buildContracts(folder, files, false)).toEqual([]);
    expect(existsSync(join(folder, "jobs/gone.schema.json"))).toBe(false);
    expect(readFileSync(join(folder, "jobs/message.schema.json"), "utf8")).toBe(files.get("jobs/message.schema.json"));
    expect(readFileSync(join(folder, "jobs/message/valid/mine.json"), "utf8")).toBe("{}\n");
  });

  it("finds nothing when everything is fresh and refuses an argument it does not know", async () => {
    expect(runContracts(["--check"], await generateContracts())).toEqual([]);
    const refused = spawnSync(process.execPath, ["--import", "tsx", TOOL, "--chekc"], { encoding: "utf8" });
    expect(refused).toMatchObject({ status: 1, stdout: "", stderr: expect.stringContaining("--chekc") });
  });
});
