// The pages that are made from the tables: settings, verbs and what to do about errors. That the committed files are
// the newest is asked by lint (tools/build-docs.ts --check).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { formatCliPage } from "../../tools/docs/cli-page.ts";
import { formatConfigPage } from "../../tools/docs/config-page.ts";
import { SETTING_WORDS } from "../../tools/docs/setting-words.ts";
import { formatTroubleshootingPage } from "../../tools/docs/troubleshooting-page.ts";
import { findCommandProblem, splitLine } from "../support/command-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "verbatim-docs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the page of settings", () => {
  it("says what a setting does, takes and is by default, also inside lists and under names that anybody chooses", () => {
    const page = formatConfigPage();
    expect(page).toContain(
      "| `agent.verify.baseline` | Whether a command that fails is tried once without the change. | true or false | `true` |",
    );
    expect(page).toContain("| `workflow.verify.share[].how` | Whether it is copied or linked. | `copy`, `link` |  |");
    expect(page).toContain("`workflow.verify.gates.NAME[].argv`");
    expect(page.indexOf("## `agent`")).toBeLessThan(page.indexOf("## `workflow`"));
  });

  it("is not made while a setting has no sentence, or a sentence no setting", () => {
    const { "agent.keep": _, ...fewer } = SETTING_WORDS;
    expect(() => formatConfigPage(fewer)).toThrow("what these settings do: agent.keep");
    expect(() => formatConfigPage({ ...SETTING_WORDS, "agent.lamp": "Lights the lamp." })).toThrow(
      "settings that are gone: agent.lamp",
    );
  });
});

describe("the page of the command line", () => {
  it("has every verb with its flags, their choices and what is mandatory", async () => {
    const page = await formatCliPage();
    expect(page).toContain("### verbatim agent apply");
    expect(page).toContain("| `-f, --follow` | Wait for more until the run ends. |");
    expect(page).toMatch(
      /\| `--apply APPLY` \| .* \(default: agent\.apply, else never\)\. One of `ask`, `auto`, `never`\. \|/,
    );
    expect(page).toContain("verbatim studio [--port N]");
    expect(page).toContain("verbatim mcp [--max-bytes N]");
  });

  it("has only examples that the command line understands", async () => {
    const lines = [...(await formatCliPage()).matchAll(/^verbatim [a-z].*$/gm)]
      .map(([line]) => line)
      .filter((line) => !line.includes("[flags]") && !/^verbatim (?:mcp|serve|studio) \[/.test(line));
    expect(lines.length).toBeGreaterThan(150);
    const problems: string[] = [];
    for (const line of lines) {
      const [command] = line.split(/ (?:[|]|[0-9]?>|<|&&) /);
      const problem = await findCommandProblem(splitLine(command!), folder);
      if (problem !== null) problems.push(`${line}: ${problem}`);
    }
    expect(problems).toEqual([]);
  });

  it.each([
    ["verbatim agent apply --forwards @", "unknown option"],
    ["verbatim ledger frobnicate", "unknown command"],
    ["verbatim nothing", "there is no verb nothing"],
    ["verbatim studio --portal 3", "there is no flag --portal"],
    ["verbatim serve --token 3", "there is no flag --token"],
  ])("would not have %s", async (line, problem) => {
    expect(await findCommandProblem(splitLine(line), folder)).toContain(problem);
  });
});

describe("the page of what to do", () => {
  it("has cause and remedy of a code under what people see", () => {
    const page = formatTroubleshootingPage();
    const part = page.slice(page.indexOf("### Apply finds a conflict"));
    expect(part).toMatch(
      /^### Apply finds a conflict\n\n\| code .*\n.*\n\| `LAND_CONFLICT` \| Files were changed by you/,
    );
    expect(page).toContain("verbatim &lt;noun> &lt;verb> --help");
  });

  it("is not made when it has nothing to say about something", () => {
    expect(() => formatTroubleshootingPage({ Odd: [{ seen: "It hums", codes: [] }] })).toThrow("It hums");
  });
});
