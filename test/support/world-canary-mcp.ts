import { LIST_PARTS } from "../../src/surfaces/mcp/resource-list.ts";
import { RESOURCE_TEMPLATES } from "../../src/surfaces/mcp/resource-uri.ts";
import { type ToolPlan, toolsFor } from "../../src/surfaces/mcp/tool-table.ts";
import { findHidden, NO_WORD, noteLeaks, type Totals } from "./world-canary-reads.ts";
import { EVERYBODY, type Story } from "./world-canary-story.ts";
import { type CanarySurface, OWNER_TOKEN } from "./world-canary-surface.ts";

type Calls = (story: Story, viewer: string) => readonly Readonly<Record<string, unknown>>[];

/** How every verb of a tool that shows something of a world is driven, or that the story itself is told with it. */
const WORLD_VERBS: Readonly<Record<string, Calls | "operator">> = {
  "world_beat beat": "operator",
  "world_beat projection": ({ cursors }, viewer) => [
    { viewer },
    ...cursors.slice(0, 2).map((cursor) => ({ viewer, cursor })),
  ],
  "world_beat search": ({ secrets }, viewer) =>
    [NO_WORD, ...secrets.slice(-4).map(({ word }) => word), "harbour boat"].map((query) => ({ viewer, query })),
  "world_beat capsule": (_, viewer) => EVERYBODY.map((person) => ({ viewer, person })),
  "world_beat list": () => [{}],
};

/** Verbs of other rooms, whose operations know nothing of worlds. */
const OTHER_VERBS: ReadonlySet<string> = new Set([
  "context.search",
  "context.expand",
  "workflow.pack",
  "workflow.patch-check",
  "jobs.submit",
  "jobs.plan",
  "jobs.post",
  "jobs.run",
  "jobs.cancel",
  "jobs.status",
  "jobs.receipts",
  "jobs.list",
  "jobs.bundle-verify",
]);

/** Kinds of resources; none of them is of a world. */
const PARTS = ["symbols", "agents", "workflow", "catalytic", "receipts", "sections"];
const TEMPLATES = [
  "section",
  "symbol",
  "receipt",
  "agent runs",
  "agent run",
  "workflow run file",
  "catalytic run file",
];

/** Verbs and kinds of resources that the canary does not know. */
export function findUndrivenTools(
  tools: readonly ToolPlan[] = toolsFor(false),
  caged: readonly ToolPlan[] = toolsFor(true),
  parts: readonly string[] = Object.keys(LIST_PARTS),
): string[] {
  const verbs = tools.flatMap(({ name, verbs }) => verbs.map((verb) => ({ ...verb, verb: `${name} ${verb.action}` })));
  return [
    ...verbs
      .filter(({ verb, operation }) => !(verb in WORLD_VERBS) && !OTHER_VERBS.has(operation))
      .map(({ verb }) => verb),
    // An agent in its cage has nothing of any world.
    ...caged.flatMap(({ name, verbs }) => verbs.filter(({ operation }) => !OTHER_VERBS.has(operation)).map(() => name)),
    ...parts.filter((one) => !PARTS.includes(one)),
    ...RESOURCE_TEMPLATES.map(({ name }): string => name).filter((one) => !TEMPLATES.includes(one)),
  ];
}

/** Uses every verb as the owner who reads as a viewer. */
export async function callTools(
  surface: CanarySurface,
  viewer: string,
  story: Story,
  label: string,
  totals: Totals,
): Promise<void> {
  const hidden = findHidden(story, viewer);
  for (const [verb, calls] of Object.entries(WORLD_VERBS)) {
    if (calls === "operator") continue;
    const [name, action] = verb.split(" ");
    let nothing = "";
    for (const asked of calls(story, viewer)) {
      const world = action === "list" ? {} : { world_id: story.world };
      const text = await call(surface, "tools/call", { name, arguments: { action, ...world, ...asked } });
      totals.outputs++;
      noteLeaks(
        totals,
        `${label}: ${verb} for ${viewer}`,
        action === "list" ? findHidden(story, "GEORGE") : hidden,
        text,
        JSON.stringify(asked),
      );
      const query = asked["query"];
      if (query === NO_WORD) nothing = text;
      if (typeof query === "string" && hidden.includes(query) && text !== nothing)
        totals.leaks.push(`${label}: ${verb}: ${query} is not as if it did not exist`);
      const isWhole = action === "projection" && asked["cursor"] === undefined;
      if (isWhole && !text.includes(story.last_line))
        totals.leaks.push(`${label}: ${verb} shows nothing: ${text.slice(0, 200)}`);
    }
  }
}

const allWords = ({ secrets }: Story): string[] => secrets.map(({ word }) => word);

/** Lists everything there is to list and asks for a world as if it were a resource. */
export async function listResources(
  surface: CanarySurface,
  story: Story,
  label: string,
  totals: Totals,
): Promise<void> {
  const lists = ["tools/list", "resources/list", "resources/templates/list"];
  for (const method of lists) {
    const text = await call(surface, method, {});
    totals.outputs++;
    if (!text.includes('"result"')) totals.leaks.push(`${label}: ${method} answers ${text.slice(0, 200)}`);
    noteLeaks(totals, `${label}: ${method}`, allWords(story), text);
  }
  for (const uri of [`world://${story.world}`, `run://world/${story.world}/entries`, `section://${story.world}`]) {
    const text = await call(surface, "resources/read", { uri });
    totals.outputs++;
    if (!text.includes("RESOURCE_UNKNOWN")) totals.leaks.push(`${label}: ${uri} is read`);
    noteLeaks(totals, `${label}: ${uri}`, allWords(story), text);
  }
}

async function call(surface: CanarySurface, method: string, params: object): Promise<string> {
  const body = { jsonrpc: "2.0", id: 1, method, params };
  const { status, text } = await surface.ask("post", "/mcp", { token: OWNER_TOKEN, body });
  if (status !== 200) throw new Error(`MCP answers ${method} with ${text.slice(0, 300)}`);
  return text;
}
