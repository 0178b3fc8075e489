// Reading while the server is away: the page opens, with what was read before, and nothing of it outlives the session.
import { afterAll, beforeAll, expect, it } from "vitest";
import { enter, StudioBench, type StudioServer } from "../support/studio.ts";

const bench = new StudioBench();
/** Null once it was ended. */
let server: StudioServer | null = null;

beforeAll(async () => {
  bench.write("lamp.txt", "off\n");
  bench.git("add", "-A");
  bench.git("commit", "-qm", "first");
  await bench.run("Light the lamp of the quay", "echo burning > lamp.txt", "--verify", "grep -q burning lamp.txt");
  server = await bench.serve();
});

afterAll(async () => {
  await server?.stop();
  await bench.close();
});

/** What lies in the browser's storage, as letters; null: there is no such storage. */
const KEPT = `(async () => {
  const names = (await indexedDB.databases()).map(({ name }) => name);
  if (!names.includes("verbatim-kept")) return null;
  const opened = await new Promise((resolve, reject) => {
    const asked = indexedDB.open("verbatim-kept");
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
  const rows = opened.objectStoreNames.contains("answers")
    ? await new Promise((resolve) => {
        const asked = opened.transaction("answers").objectStore("answers").getAll();
        asked.onsuccess = () => resolve(asked.result);
      })
    : [];
  opened.close();
  return rows.map(({ name, data }) => name + " " + new TextDecoder("latin1").decode(data));
})()`;

it("opens without its server and shows what was read, says from when, does nothing, and keeps nothing readable", async () => {
  const { window, watched, page } = await enter(bench, server!, "/runs", { serviceWorkers: "allow" });
  await page.getByRole("listitem").getByText("Light the lamp of the quay").click();
  await page.locator("[role=grid] [data-type=line]").getByText("burning").waitFor();
  const verdict = page.locator("[data-testid=verdict]", { hasText: "Ready to land: 1 file" });
  await verdict.waitFor();
  await expect
    .poll(() => page.evaluate<boolean>("navigator.serviceWorker.controller !== null"), { timeout: 200_000 })
    .toBe(true);
  const kept = () => page.evaluate<readonly string[] | null>(KEPT);
  // The list, the report and the change; none of it can be read by whoever looks into the storage.
  await expect.poll(async () => (await kept())?.length ?? 0, { timeout: 200_000 }).toBeGreaterThanOrEqual(3);
  const text = (await kept())!.join("\n");
  expect(text).not.toMatch(/lamp|quay|burning|agent|verified|run_id/);

  await server!.stop("SIGKILL");
  server = null;
  await page.reload();
  await verdict.waitFor();
  await page.locator("[role=grid] [data-type=line]").getByText("burning").waitFor();
  await page.getByText(/^The server at .* does not answer\. What you see is from \d\d:\d\d:\d\d\.$/).waitFor();
  expect(await page.getByRole("button", { name: "Apply 1 file" }).isDisabled()).toBe(true);
  await page.getByRole("link", { name: "Runs", exact: true }).click();
  await page.getByRole("listitem").getByText("Light the lamp of the quay").waitFor();
  expect(watched.problems).toEqual([]);

  // Whoever has no session finds the question for a key, and nothing of what was read.
  await page.evaluate("sessionStorage.clear()");
  await page.reload();
  await page.getByLabel("Token").waitFor();
  await expect.poll(kept).toBeNull();
  await window.close();
});
