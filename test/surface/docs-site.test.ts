// The site made of the documents: every link leads somewhere, a real browser asks nobody else, and everybody can use it.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, posix } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildSite } from "../../tools/build-site.ts";
import { makeResolver, renderPage, slugOf } from "../../tools/site/render.ts";
import { launchBrowser } from "../support/browser.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

const base = mkdtempSync(join(tmpdir(), "verbatim-site-"));
const site = join(base, "site");
let server: Server;
let browser: Browser;
let url: string;

beforeAll(async () => {
  buildSite(site);
  server = createServer((request, response) => {
    const file = join(site, posix.normalize(new URL(request.url ?? "/", "http://localhost").pathname));
    const isThere = existsSync(file) && extname(file) in TYPES;
    response.writeHead(isThere ? 200 : 404, { "content-type": TYPES[extname(file)] ?? "text/plain" });
    response.end(isThere ? readFileSync(file) : "");
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchBrowser();
});

afterAll(async () => {
  await browser?.close();
  server?.close();
  rmSync(base, { recursive: true, force: true });
});

function listPages(): string[] {
  return readdirSync(site, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".html"));
}

describe("the site", () => {
  it("names every page once in its navigation", () => {
    const [nav = ""] = /<nav[\s\S]*?<\/nav>/.exec(readFileSync(join(site, "index.html"), "utf8")) ?? [];
    const targets = [...nav.matchAll(/ href="([^"#]+)"/g)].map((match) => match[1]!);
    expect(targets.length).toBeGreaterThan(30);
    expect(targets.filter((one, i) => targets.indexOf(one) !== i)).toEqual([]);
    expect(targets).toContain("./guides/team.html");
  });

  it("has no link, picture or file that leads nowhere, and names no other server but in links for people", () => {
    const pages = listPages();
    expect(pages.length).toBeGreaterThan(60);
    const ids = new Map<string, Set<string>>();
    for (const page of pages) {
      const html = readFileSync(join(site, page), "utf8");
      ids.set(page, new Set([...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]!)));
    }
    const broken: string[] = [];
    for (const page of pages) {
      const html = readFileSync(join(site, page), "utf8");
      for (const [, name, link] of html.matchAll(/\b(href|src|srcset)="([^"]*)"/g)) {
        if (/^https?:/.test(link!)) {
          if (name !== "href") broken.push(`${page}: fetches ${link}`);
          continue;
        }
        const [path = "", fragment] = link!.split("#");
        const target = path === "" ? page : posix.join(posix.dirname(page), path);
        if (!existsSync(join(site, target))) broken.push(`${page}: ${link}`);
        else if (fragment !== undefined && !ids.get(target)?.has(fragment)) broken.push(`${page}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it.each(["index.html", "guides/several-agents.html"])(
    "can be used by everybody, light and dark, and asks nobody else: %s",
    async (path) => {
      for (const colorScheme of ["light", "dark"] as const) {
        const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 900 } });
        const page = await context.newPage();
        const asked: string[] = [];
        const complaints: string[] = [];
        page.on("request", (request) => asked.push(request.url()));
        page.on("console", (message) => complaints.push(message.text()));
        page.on("pageerror", (error) => complaints.push(String(error)));
        await page.goto(`${url}/${path}`, { waitUntil: "load" });
        const { violations } = await new AxeBuilder({ page }).analyze();
        expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
        expect(asked.filter((one) => !one.startsWith(`${url}/`))).toEqual([]);
        expect(asked.length).toBeGreaterThan(2);
        expect(complaints).toEqual([]);
        await context.close();
      }
    },
  );

  it("finds words by the keyboard alone, on a narrow screen too", async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 800 } });
    await page.goto(`${url}/guides/ci.html`);
    await page.keyboard.press("/");
    await page.keyboard.type("LAND_CONFLICT");
    await page.locator("#search-results a").first().waitFor();
    expect(await page.locator("#search-count").textContent()).toMatch(/^\d+ places? found$/);
    await page.keyboard.press("ArrowDown");
    const text = await page.evaluate("document.activeElement.textContent");
    expect(text).toMatch(/LAND_CONFLICT/);
    await page.keyboard.press("Enter");
    await page.waitForURL((to) => !to.pathname.endsWith("/guides/ci.html"));
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await page.close();
  });

  it("is the same bytes when it is built again, and removes nothing that is not its own", () => {
    const before = listPages().map((file) => readFileSync(join(site, file), "utf8"));
    mkdirSync(join(site, "api"));
    writeFileSync(join(site, "api/index.html"), "the library");
    buildSite(site);
    expect(readFileSync(join(site, "api/index.html"), "utf8")).toBe("the library");
    expect(readFileSync(join(site, "index.html"), "utf8")).toContain('href="./api/index.html"');
    rmSync(join(site, "api"), { recursive: true });
    buildSite(site);
    expect(listPages().map((file) => readFileSync(join(site, file), "utf8"))).toEqual(before);
    const foreign = join(base, "foreign");
    mkdirSync(foreign);
    writeFileSync(join(foreign, "letter.txt"), "dear");
    expect(() => buildSite(foreign)).toThrow("was not made by this tool");
    expect(readdirSync(foreign)).toEqual(["letter.txt"]);
  });
});

describe("a page", () => {
  const resolve = makeResolver(
    new Map([
      ["docs/a.md", "a.html"],
      ["docs/b/c.md", "b/c.html"],
    ]),
    (file) => file === "docs/x.svg",
  );

  it("has tables, ids as GitHub makes them, and links that lead into the site", () => {
    const { html, headings, files } = renderPage(
      "docs/b/c.md",
      '# A `b`\n\n## Twice\n\n## Twice\n\n[a](../a.md#z) ![p](../x.svg) <img src="../x.svg">\n\n| x | y |\n|---|---|\n| `1` | 2 |\n',
      resolve,
    );
    expect(headings.map(({ id }) => id)).toEqual(["a-b", "twice", "twice-1"]);
    expect(html).toContain('<a href="../a.html#z">a</a>');
    expect(html).toContain('<img src="../files/docs/x.svg" alt="p"');
    expect(html).toContain('<img src="../files/docs/x.svg">');
    expect(html).toContain("<td><code>1</code></td><td>2</td>");
    expect([...files]).toEqual(["docs/x.svg"]);
    expect(slugOf("What holds, where?", new Map())).toBe("what-holds-where");
  });

  it("is not built with a link that leads nowhere", () => {
    expect(() => renderPage("docs/a.md", "[x](gone.md)", resolve)).toThrow("docs/a.md: there is nothing at gone.md");
  });
});
