// The ledger in the page: found, shown, and computed again where it is read.
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgeEntry } from "../../src/adapters/sql/sqlite/forge.ts";
import { enter, StudioBench, type StudioServer } from "../support/studio.ts";
import { travel } from "../support/studio-answers.ts";

const bench = new StudioBench();
let server: StudioServer;

beforeAll(async () => {
  bench.write("docs/lamp.md", "# Lamp\n\nThe lamp is lit at dusk.\n\n## Oil\n\nOil is kept dry.\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  await bench.verbatim("index", "build");
  for (let n = 0; n < 7; n++) await bench.verbatim("expand", "docs/lamp.md lines[0:1]");
  await bench.verbatim("keys", "new", "ci");
  await bench.verbatim("ledger", "checkpoint", "--key", "ci");
  await bench.verbatim("expand", "docs/lamp.md lines[0:1]");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

interface Line {
  readonly index: number;
  readonly hash: string;
}

async function ask<T>(name: string, input: object): Promise<T> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${server.token}` };
  const answer = await fetch(`${server.base}/api/operations/${name}`, {
    method: "POST",
    headers,
    body: JSON.stringify(input),
  });
  return (await answer.json()) as T;
}

describe("the ledger", () => {
  it("is listed newest first, filtered by the address, plotted, and verified as a task", async () => {
    const { window, watched, page } = await enter(bench, server, "/ledger");
    const rows = page.getByRole("list", { name: "Entries, newest first" }).getByRole("listitem");
    await rows.first().waitFor();
    const { total } = await ask<{ total: number }>("ledger.browse", { limit: 1 });
    await expect.poll(() => rows.count()).toBe(total);
    expect(await rows.first().textContent()).toContain("EXPANSION");
    await page.locator("canvas").waitFor();
    await page.getByText("As a table").click();
    await page.getByRole("table").getByText("context").waitFor();

    await page.getByLabel("Kind").fill("checkpoint");
    await page.getByLabel("Kind").press("Enter");
    await page.waitForURL(/kind=CHECKPOINT/);
    await expect.poll(() => rows.count()).toBe(1);
    await page.goto(`${server.base}/ledger?stream=nothing`);
    await page.getByText("No entry matches.").waitFor();
    await page.getByRole("button", { name: "Clear the filter" }).click();
    await expect.poll(() => rows.count()).toBe(total);

    await page.getByRole("button", { name: "Verify all" }).click();
    await page
      .getByTestId("ledger-verdict")
      .getByText(/^Verified: \d+ entries in 2 streams\.$/)
      .waitFor();
    await page.getByText("that nothing is missing at the end").waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("computes the hashes of an entry in the page, and says so when the bytes are others", async () => {
    const { window, watched, page } = await enter(bench, server, "/ledger");
    await page.getByRole("list", { name: "Entries, newest first" }).getByRole("listitem").first().waitFor();
    await page.keyboard.press("j");
    await page.locator("[data-at='1']:focus").waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/ledger\/\d+$/);
    await page.getByTestId("entry-checked").getByText("Same hashes, computed in this page").waitFor();
    await page.getByRole("button", { name: "Exact bytes" }).click();
    await page.locator("pre", { hasText: '"root_hash"' }).waitFor();
    const { items } = await ask<{ items: readonly Line[] }>("ledger.browse", { limit: 1 });
    const real = await ask<{ line: string; body_text: string }>("ledger.entry", { index: items[0]!.index });
    // A server that shows other bytes than were hashed is found out.
    await window.route("**/api/operations/ledger.entry", (route) =>
      route.fulfill({ json: { ...real, line: real.line.replace("lines[0:1]", "lines[0:9]") } }),
    );
    await travel(page, `/ledger/hash/${items[0]!.hash}`, "[data-testid=entry-checked]");
    await page.getByText("do not have the hashes that it claims").waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("climbs from the first, the middle and the last entry to the root, and to a checkpoint that somebody signed", async () => {
    const { items } = await ask<{ items: readonly Line[] }>("ledger.browse", { limit: 200 });
    const signed = await ask<{ items: readonly { tree_size: number }[] }>("ledger.checkpoints", {});
    const size = signed.items[0]!.tree_size;
    const { window, watched, page } = await enter(bench, server, "/ledger/checkpoints");
    await page.getByText("Signed by ci").waitFor();
    await page.getByRole("button", { name: "Check it against today" }).click();
    await page.getByTestId("checkpoint-found").getByText("contains it unchanged").waitFor();
    const end = page.getByTestId("inclusion-end");
    for (const at of [0, Math.floor(items.length / 2), items.length - 1]) {
      const { hash } = items.find(({ index }) => index === at)!;
      await travel(page, `/ledger/proof/${hash}`, "[data-testid=inclusion-end]");
      await end.getByText("equals the root of the ledger at that size").waitFor();
      await page.getByText(new RegExp(`^Entry ${at} of a ledger of ${items.length} entries\\.`)).waitFor();
    }
    const { hash: first } = items.at(-1)!;
    await travel(page, `/ledger/proof/${first}?size=${size}`, "[data-testid=inclusion-end]");
    await end.getByText(`equals the root of checkpoint ${size}, signed by ci`).waitFor();
    // A path that leads elsewhere is drawn as it is, and called what it is.
    const proof = await ask<{ path: readonly string[] }>("ledger.prove", { entry: first, size: 2 });
    await window.route("**/api/operations/ledger.prove", (route) =>
      route.fulfill({ json: { ...proof, path: ["0".repeat(64)] } }),
    );
    await travel(page, `/ledger/proof/${first}?size=2`, "[data-testid=inclusion-end][data-sound=false]");
    await end.getByText("is not the root that the server gave").waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("is usable by everybody, in both themes and on a phone", async () => {
    const { items } = await ask<{ items: readonly Line[] }>("ledger.browse", { limit: 1 });
    const screens: readonly (readonly [string, string])[] = [
      ["/ledger", "main canvas"],
      [`/ledger/${items[0]!.index}`, "[data-testid=entry-checked]"],
      ["/ledger/checkpoints", "main article"],
      [`/ledger/proof/${items[0]!.hash}`, "[data-testid=inclusion-end]"],
      ["/bundles", "[data-testid=drop-zone]"],
    ];
    const { window, watched, page } = await enter(bench, server, "/");
    const shots = process.env["STUDIO_SHOTS"];
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 });
      for (const [path, ready] of screens) {
        await travel(page, path, ready);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
          if (shots !== undefined)
            await page.screenshot({
              path: join(shots, `${path.slice(0, 14).replaceAll("/", "_")}-${width}-${colorScheme}.png`),
            });
          if (width === 390 && colorScheme === "dark") continue;
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
    await page.setViewportSize({ width: 390, height: 860 });
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Bundles" }).click();
    await page.getByTestId("drop-zone").waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });

  it("says where it breaks when somebody changed the file of the store, also in the page that shows the entry", async () => {
    await forgeEntry(join(bench.root, ".verbatim/state/store.db"));
    const { window, watched, page } = await enter(bench, server, "/ledger/1");
    await page.getByText("do not have the hashes that it claims").waitFor();
    await travel(page, "/ledger", "main canvas");
    await page.getByRole("button", { name: "Verify all" }).click();
    await page.getByTestId("ledger-verdict").getByText("Not sound: 1 problem found.").waitFor();
    await page.getByText(/^LEDGER_BODY_MISMATCH$/).waitFor();
    await page.getByText(/^.*, position \d+$/).waitFor();
    expect(watched.problems).toEqual([]);
    await window.close();
  });
});
