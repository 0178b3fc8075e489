// The context room and jobs in the page: what is read is the exact bytes, and what is counted is what the budgets count.
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { enter, StudioBench, type StudioServer } from "../support/studio.ts";
import { travel } from "../support/studio-answers.ts";

const bench = new StudioBench();
let server: StudioServer;
let job: string;

const LAMP = "# Lamp\n\nThe lamp is lit at \u202edusk\u202c.\n\n## Oil\n\nOil is kept dry.\n";

beforeAll(async () => {
  bench.write("docs/lamp.md", LAMP);
  bench.write("docs/rope.md", `# Rope\n\n${"Rope is coiled.\n".repeat(900)}`);
  bench.write("notes/day.md", "# Day\n\nNothing happened.\n");
  bench.write("verbatim.config.json", '{"context":{"sources":["**/*.md"]}}');
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

async function ask<T>(name: string, input: object): Promise<T> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${server.token}` };
  const answer = await fetch(`${server.base}/api/operations/${name}`, {
    method: "POST",
    headers,
    body: JSON.stringify(input),
  });
  return (await answer.json()) as T;
}

describe("the context room", () => {
  it("builds its index as a task, and shows folders, files and sections with their sizes", async () => {
    const { window, watched, page } = await enter(bench, server, "/context");
    await page.getByText("Nothing is indexed.").waitFor();
    await page.getByRole("button", { name: "Build the index" }).click();
    await page.getByRole("link", { name: /^docs/ }).click();
    await page.waitForURL(/path=docs/);
    const listed = await ask<readonly object[]>("context.section-list", { path: "docs" });
    await page.getByText(`2 files, ${listed.length} sections`).waitFor();
    await page.locator("figure svg rect").first().waitFor();
    await page.getByRole("link", { name: /^lamp\.md/ }).click();
    await page.getByRole("link", { name: /Oil/ }).click();
    await page.getByRole("heading", { name: "Oil", level: 1 }).waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("shows exactly the bytes of a slice, computes their hash in the page, and records nothing", async () => {
    const { total } = await ask<{ total: number }>("ledger.browse", { limit: 1 });
    const sections = await ask<readonly { section_id: string }[]>("context.section-list", { path: "docs/lamp.md" });
    const { window, watched, page } = await enter(bench, server, `/context/sections/${sections[0]!.section_id}`);
    await page.getByTestId("slice-checked").getByText("Same hash, computed in this page").waitFor();
    const text = page.getByTestId("slice-text");
    // What turns the order of letters around is drawn and obeyed by nothing.
    await text.getByText("U+202E").waitFor();
    await page.getByLabel("Slice", { exact: true }).fill("lines[4:99]");
    await page
      .getByText(/LINE|SLICE/)
      .first()
      .waitFor();
    await page.getByLabel("Slice", { exact: true }).fill("lines[6:7]");
    await text.getByText("Oil is kept dry.").waitFor();
    await page.waitForURL(/slice=/);
    expect((await ask<{ total: number }>("ledger.browse", { limit: 1 })).total).toBe(total);
    await window.route("**/api/operations/context.preview", async (route) => {
      const real = await route.fetch();
      const answer = (await real.json()) as { text: string };
      await route.fulfill({ json: { ...answer, text: answer.text.replace("dry", "wet") } });
    });
    await page.getByLabel("Slice", { exact: true }).fill("lines[5:7]");
    await page.getByTestId("slice-checked").getByText("The bytes have another hash").waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("finds words, collects what is found, counts every budget as it is typed, and makes no pack beyond one", async () => {
    const { window, watched, page } = await enter(bench, server, "/context?q=rope");
    await page
      .getByRole("link", { name: /docs\/rope\.md/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Add to the pack" }).click();
    await page.getByRole("link", { name: /^Pack/ }).click();
    await page.getByTestId("budget-max_sections").getByText("1 of 5").waitFor();
    // The pack is in the part of the address that is never sent.
    await page.waitForURL(/\/context\/pack#[0-9a-f]{64}/);
    const slice = page.getByRole("textbox").first();
    await slice.fill("lines[0:800]");
    await page.getByText("Bytes go beyond the limit, so no pack can be made.").waitFor();
    expect(await page.getByRole("button", { name: "Make the pack" }).count()).toBe(0);
    await slice.fill("lines[0:3]");
    await page.getByRole("button", { name: "Make the pack" }).click();
    await page.getByTestId("pack-made").getByText("Rope is coiled.").waitFor();
    const { items } = await ask<{ items: readonly { kind: string }[] }>("ledger.browse", { limit: 1 });
    expect(items[0]!.kind).toBe("EXPANSION");
    // Whoever opens the address has the same pack.
    const address = page.url();
    await page.goto(`${server.base}/`);
    await page.goto(address);
    await page.getByTestId("budget-max_sections").getByText("1 of 5").waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});

describe("jobs", () => {
  it("are run from the page, and their chain of receipts is computed there", async () => {
    const section = (
      await ask<readonly { section_id: string }[]>("context.section-list", { path: "docs/lamp.md" })
    )[0]!;
    const message = {
      intent: "Read the lamp",
      refs: [],
      ops: [{ type: "READ", target: section.section_id, params: { slice: "lines[0:1]" } }],
      budgets: { max_symbols: 1, max_sections: 1, max_bytes_expanded: 1000, max_expands_per_step: 1 },
      required_outputs: [],
    };
    const { window, watched, page } = await enter(bench, server, "/jobs?open=true");
    // Posted in the page, after it said what it would do; what is no message says so, and what was typed stays.
    await page.getByText("Post a message").click();
    const field = page.getByLabel("The message as JSON");
    await field.fill(`${JSON.stringify(message)}}`);
    await page.getByRole("button", { name: "See what it would do" }).click();
    await page.getByText(/^That is not JSON: /).waitFor();
    await field.fill(JSON.stringify(message));
    await page.getByRole("button", { name: "See what it would do" }).click();
    await page.getByTestId("planned").getByText("It would make 1 step, within its budgets.").waitFor();
    await page.getByRole("button", { name: "Post it as a job" }).click();
    await page.waitForURL(/\/jobs\/[\w-]+$/);
    job = page.url().split("/").at(-1)!;
    await page.getByRole("button", { name: "Run this job" }).click();
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page
      .getByTestId("chain-found")
      .getByText(/^The chain holds: \d+ entries, 1 receipt, computed/)
      .waitFor();
    // One line less: the page finds it out by itself.
    await window.route("**/api/ledger/export?*", async (route) => {
      const lines = (await (await route.fetch()).text()).split("\n");
      await route.fulfill({ body: lines.toSpliced(1, 1).join("\n"), contentType: "application/octet-stream" });
    });
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByTestId("chain-found").getByText("The chain breaks at position 1.").waitFor();
    await page.locator("main ol").getByRole("link").first().click();
    await page.waitForURL(/\/jobs\/receipts\/[0-9a-f]{64}/);
    await page.getByText("SUCCESS").first().waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});

it("everybody can use these screens, in both themes and on a phone", async () => {
  const sections = await ask<readonly { section_id: string }[]>("context.section-list", { path: "docs/lamp.md" });
  const screens: readonly (readonly [string, string])[] = [
    ["/context", "main section ul a"],
    [`/context/sections/${sections[0]!.section_id}`, "[data-testid=slice-checked] strong"],
    [`/context/pack#${sections[0]!.section_id}~lines%5B0%3A2%5D`, "[data-testid=budget-max_sections]"],
    ["/context/symbols", "main p"],
    ["/jobs", "main li"],
    [`/jobs/${job}`, "main ol li"],
  ];
  const { window, watched, page } = await enter(bench, server, "/");
  const shots = process.env["STUDIO_SHOTS"];
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 860 });
    for (const [path, ready] of screens) {
      await travel(page, path, ready);
      for (const colorScheme of width === 390 ? (["light"] as const) : (["light", "dark"] as const)) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        const name = `${path.slice(0, 14).replaceAll("/", "_")}-${width}-${colorScheme}.png`;
        if (shots !== undefined) await page.screenshot({ path: join(shots, name) });
        // What depends on the theme is contrast alone; everything else was asked in the first one.
        const axe = new AxeBuilder({ page });
        const { violations } = await (colorScheme === "dark" ? axe.withRules(["color-contrast"]) : axe).analyze();
        const found = violations.map(({ id, nodes }) => `${path} ${colorScheme}: ${id} ${nodes[0]?.html ?? ""}`);
        expect(found).toEqual([]);
        const isWider = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
        expect([path, width, isWider]).toEqual([path, width, false]);
      }
    }
  }
  expect(watched.problems).toEqual([]);
  await window.close();
});
