import { z } from "zod";
import { defineOperation, OWNER } from "../../core/operation.ts";
import { findObjects, found } from "./find.ts";
import { home, readHome } from "./home.ts";
import type { StudioPorts } from "./ports.ts";

const sessions = defineOperation({
  name: "studio.sessions",
  summary: "Lists the sessions of this server: in which browser, since when, last used when.",
  effect: "read",
  who: OWNER,
  surfaces: ["http"],
  input: z.strictObject({}),
  output: z.strictObject({
    sessions: z.array(
      z.strictObject({
        id: z.string().describe("Ends it: DELETE /api/session/ID."),
        label: z.string().describe("Browser and system, as far as they are known."),
        role: z.enum(["owner", "reviewer", "reader", "operator", "player", "viewer"]),
        world_id: z.string().nullable().describe("The world whose token opened it."),
        opened_by: z.enum(["link", "token"]),
        since: z.string(),
        last_use: z.string(),
      }),
    ),
  }),
  run: async (ports: StudioPorts) => ({ sessions: [...ports.sessions()] }),
});

const homeScreen = defineOperation({
  name: "studio.home",
  summary: "Everything the first screen of the Studio shows, in one answer.",
  effect: "read",
  who: OWNER,
  surfaces: ["http"],
  input: z.strictObject({}),
  output: home,
  run: (ports: StudioPorts) => readHome(ports),
});

const find = defineOperation({
  name: "studio.find",
  summary: "Finds runs, worlds and ledger entries by name, id or hash.",
  effect: "read",
  who: OWNER,
  surfaces: ["http"],
  input: z.strictObject({ q: z.string().max(200), limit: z.int().min(1).max(50).default(20) }),
  output: found,
  run: (ports: StudioPorts, { q, limit }) => findObjects(ports, q, limit),
});

/** What only a page needs to know. */
export const STUDIO_OPERATIONS = [sessions, homeScreen, find] as const;
