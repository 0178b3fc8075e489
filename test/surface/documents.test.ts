import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { replaceBetweenMarkers } from "../../tools/build-docs.ts";
import { formatErrorPage } from "../../tools/docs/error-page.ts";
import { formatFloorPlan } from "../../tools/docs/floor-plan.ts";

// Guards: the generated pages say what the source says, and a generator that finds nothing says so.

describe("the page of errors", () => {
  it("lists a thrown code with its exit, status and advice, and a finding without", async () => {
    const page = await formatErrorPage();
    expect(page).toContain(
      "| `STORE_BUSY` | 4 | 503 | Another process held the store for too long. | Try again when it has finished. |",
    );
    expect(page).toContain("| `FIELD_MISSING` | A required field is absent. |");
    expect(page.indexOf("### Hall")).toBeLessThan(page.indexOf("### Context"));
  });

  it("shows angle brackets as text", async () => {
    expect(await formatErrorPage()).toContain("verbatim &lt;noun> &lt;verb> --help");
  });
});

describe("the picture of the rooms", () => {
  it("draws rooms and compose one by one, joins the hall and the rest of the app into one box each, and marks ports", () => {
    const picture = formatFloorPlan({
      folders: ["adapters/disk", "app", "app/compose", "app/hooks", "core", "core/text", "rooms/jobs", "surfaces/cli"],
      edges: new Map([
        ["surfaces/cli", ["app"]],
        ["app", ["rooms/jobs", "app", "app/compose"]],
        ["app/compose", ["adapters/disk", "app/hooks"]],
        ["app/hooks", ["app"]],
        ["rooms/jobs", ["core/text", "core", "rooms/jobs"]],
        ["adapters/disk", ["core", "rooms/jobs"]],
        ["core/text", ["core"]],
      ]),
    });
    expect(picture.split("\n").map((line) => line.trim())).toEqual([
      "```mermaid",
      "flowchart TD",
      "subgraph surfaces",
      'surfaces_cli["cli"]',
      "end",
      'app["app: hooks"]',
      'app_compose["app/compose"]',
      "subgraph rooms",
      'rooms_jobs["jobs"]',
      "end",
      'adapters["adapters: disk"]',
      'core["core: text"]',
      "adapters --> core",
      "adapters -. ports .-> rooms_jobs",
      "app --> app_compose",
      "app --> rooms_jobs",
      "app_compose --> adapters",
      "app_compose --> app",
      "rooms_jobs --> core",
      "surfaces_cli --> app",
      "```",
      "",
    ]);
  });

  it("refuses a page whose markers were lost", () => {
    expect(() => replaceBetweenMarkers("# Architecture\n", "picture")).toThrow("the page has no <!-- generated");
  });

  it("keeps everything outside the markers", () => {
    const page = "before\n<!-- generated: floor plan -->\nold\n<!-- end of generated part -->\nafter\n";
    expect(replaceBetweenMarkers(page, "new")).toBe(
      "before\n<!-- generated: floor plan -->\n\nnew\n<!-- end of generated part -->\nafter\n",
    );
  });
});

describe("links between the documents", () => {
  it.each(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "REVIEW.md", "STYLE.md", "SECURITY.md"])(
    "hold in %s",
    (file) => {
      const root = new URL("../../", import.meta.url);
      const text = readFileSync(new URL(file, root), "utf8");
      const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map((match) => match[1]!);
      const broken = links.filter((link) => !existsSync(new URL(link, root)));
      expect(broken).toEqual([]);
    },
  );
});

describe("the decisions", () => {
  const folder = new URL("../../docs/adr/", import.meta.url);
  const files = readdirSync(folder).toSorted();

  it("are numbered one after the other, each with a number of its own that its title says too", () => {
    const numbers = files.map((_, i) => String(i + 1).padStart(4, "0"));
    expect(files.map((file) => file.slice(0, 5))).toEqual(numbers.map((number) => `${number}-`));
    const titles = files.map((file) => readFileSync(new URL(file, folder), "utf8").split("\n", 1)[0]!);
    expect(titles.map((title) => /^# ([0-9]+)\. \S/.exec(title)?.[1]?.padStart(4, "0"))).toEqual(numbers);
  });

  it("are where the other documents and the source say", () => {
    const root = new URL("../../", import.meta.url);
    const named = ["CHANGELOG.md", "SECURITY.md", "docs", "src"].flatMap((place) => {
      const whole = new URL(place, root);
      const inside = statSync(whole).isDirectory() ? readdirSync(whole, { recursive: true, encoding: "utf8" }) : [""];
      return inside
        .filter((file) => file === "" || /\.(?:md|ts)$/.test(file))
        .flatMap((file) => {
          const text = readFileSync(file === "" ? whole : new URL(`${place}/${file}`, root), "utf8");
          return [...text.matchAll(/adr\/([0-9]{4}-[a-z0-9-]+\.md)/g)].map((match) => match[1]!);
        });
    });
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((file) => !files.includes(file))).toEqual([]);
  });
});
