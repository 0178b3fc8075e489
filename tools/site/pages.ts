import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sortedByCodePoint } from "../../src/core/canonical/index.ts";
import { ROOT } from "../stages.ts";

/** One page of the site: where it comes from and where it goes, both with forward slashes. */
export interface Page {
  readonly source: string;
  readonly target: string;
  readonly title: string;
  readonly text: string;
}

/** A group of the navigation. */
interface Group {
  readonly title: string;
  readonly sources: readonly string[];
}

const GROUPS: readonly Group[] = [
  { title: "Start", sources: ["README.md", "docs/README.md", "docs/start.md", "docs/concepts.md"] },
  {
    title: "Guides",
    sources: [
      "docs/guides/review-and-land.md",
      "docs/guides/secrets.md",
      "docs/guides/several-agents.md",
      "docs/guides/agent.md",
      "docs/guides/studio.md",
      "docs/guides/team.md",
      "docs/guides/ci.md",
      "docs/guides/verify-a-run.md",
      "docs/guides/verify-without-verbatim.md",
      "docs/guides/quote-exactly.md",
      "docs/guides/mcp.md",
      "docs/guides/write-a-client.md",
      "docs/guides/play-a-world.md",
    ],
  },
  {
    title: "Reference",
    sources: [
      "docs/cli.md",
      "docs/configuration.md",
      "docs/troubleshooting.md",
      "docs/errors.md",
      "docs/security.md",
      "docs/performance.md",
      "examples/README.md",
    ],
  },
  {
    title: "Rooms",
    sources: ["context", "jobs", "bundles", "catalytic", "workflow", "world"].map((room) => `docs/rooms/${room}.md`),
  },
  {
    title: "The project",
    sources: [
      "SECURITY.md",
      "ARCHITECTURE.md",
      "CONTRIBUTING.md",
      "STYLE.md",
      "REVIEW.md",
      "docs/walks.md",
      "docs/quality.md",
      "contracts/README.md",
      "CHANGELOG.md",
    ],
  },
];

export interface NavGroup {
  readonly title: string;
  readonly links: readonly { readonly target: string; readonly title: string }[];
}

export interface Site {
  readonly pages: readonly Page[];
  readonly groups: readonly NavGroup[];
}

/** All pages, with the reference of the library in the navigation where there is one, in the order of the navigation; a page that no group names comes after those of its folder. */
export function readSite(hasApi: boolean, root: string = ROOT): Site {
  const inside = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).map(
    (file) => `docs/${file.replaceAll("\\", "/")}`,
  );
  const all = sortedByCodePoint(inside.filter((file) => file.endsWith(".md")));
  const named = new Set(GROUPS.flatMap(({ sources }) => sources));
  const decisions = all.filter((file) => file.startsWith("docs/adr/"));
  const rest = all.filter((file) => !named.has(file) && !decisions.includes(file));
  const groups = GROUPS.map(({ title, sources }) => ({
    title,
    sources: [
      ...sources.filter((source) => existsSync(join(root, source))),
      ...rest.filter((file) => title === groupOf(file)),
    ],
  }));
  const pages = [...groups.flatMap(({ sources }) => sources), ...decisions].map((source) => readPage(root, source));
  const byName = new Map(pages.map((page) => [page.source, page]));
  const nav = groups.map(({ title, sources }) => ({
    title,
    links: sources.map((source) => ({ target: byName.get(source)!.target, title: nameOf(byName.get(source)!) })),
  }));
  const list = makeDecisionList(decisions.map((source) => byName.get(source)!));
  nav.at(-1)!.links.push({ target: list.target, title: "Decisions" });
  if (hasApi) {
    nav.find(({ title }) => title === "Reference")!.links.push({ target: "api/index.html", title: "Library (API)" });
  }
  return { pages: [...pages, list], groups: nav };
}

function groupOf(file: string): string {
  if (file.startsWith("docs/guides/")) return "Guides";
  return file.startsWith("docs/rooms/") ? "Rooms" : "Reference";
}

function readPage(root: string, source: string): Page {
  const text = readFileSync(join(root, source), "utf8");
  const title = /^# (.+)$/m.exec(text)?.[1]?.replaceAll(/[`*]/g, "") ?? source;
  return { source, target: targetOf(source), title, text };
}

/** `docs/guides/ci.md` is `guides/ci.html`; what lies at the root is below `project/`, except the first page. */
export function targetOf(source: string): string {
  if (source === "README.md") return "index.html";
  if (source === "docs/README.md") return "contents.html";
  const inside = source.startsWith("docs/") ? source.slice("docs/".length) : `project/${source.toLowerCase()}`;
  return inside.replace(/\.md$/, ".html");
}

function makeDecisionList(decisions: readonly Page[]): Page {
  const rows = decisions.map(({ source, title }) => `- [${title}](${source.slice("docs/adr/".length)})`);
  const text = `# Decisions\n\nWhy it is so, one page for each question.\n\n${rows.join("\n")}\n`;
  return { source: "docs/adr/README.md", target: "adr/index.html", title: "Decisions", text };
}

const NAMES: Readonly<Record<string, string>> = {
  "README.md": "Verbatim",
  "docs/README.md": "Contents",
  "docs/start.md": "Ten minutes",
  "docs/concepts.md": "The words",
  "docs/guides/agent.md": "All about agent runs",
  "docs/guides/mcp.md": "MCP",
  "SECURITY.md": "Claims and their tests",
};

/** A short name for the navigation. */
function nameOf({ source, title }: Page): string {
  return NAMES[source] ?? title;
}
