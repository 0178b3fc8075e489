import { z } from "zod";
import { defineOperation } from "../../core/operation.ts";
import type { StudioPorts } from "./ports.ts";

const sessions = defineOperation({
  name: "studio.sessions",
  summary: "Lists the sessions of this server: in which browser, since when, last used when.",
  effect: "read",
  surfaces: ["http"],
  input: z.strictObject({}),
  output: z.strictObject({
    sessions: z.array(
      z.strictObject({
        id: z.string().describe("Ends it: DELETE /api/session/ID."),
        label: z.string().describe("Browser and system, as far as they are known."),
        role: z.enum(["owner", "operator", "viewer"]),
        world_id: z.string().nullable().describe("The world whose token opened it."),
        opened_by: z.enum(["link", "token"]),
        since: z.string(),
        last_use: z.string(),
      }),
    ),
  }),
  run: async (ports: StudioPorts) => ({ sessions: [...ports.sessions()] }),
});

/** What only a page needs to know. */
export const STUDIO_OPERATIONS = [sessions] as const;
