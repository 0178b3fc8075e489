import { z } from "zod";
import { VerbatimError } from "../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, OWNER, WORKSPACE_ROLES } from "../../core/operation.ts";
import { formatTime } from "../../core/time.ts";
import type { TeamPorts } from "./ports.ts";

const name = z
  .string()
  .regex(/^[a-z][a-z0-9._-]{0,38}$/)
  .describe("Name of the person or program, as the ledger will say it: user/NAME.");

const tokenAdd = defineOperation({
  name: "team.token-add",
  summary: "Makes a token for the HTTP API of a team's workspace, and shows it this once.",
  effect: "append",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    name,
    role: z.enum(WORKSPACE_ROLES).describe("What it may do."),
    expires: z.int().min(1).max(3650).default(90).describe("Days that it is good for."),
  }),
  output: z.strictObject({ name: z.string(), role: z.enum(WORKSPACE_ROLES), expires: z.string(), token: z.string() }),
  async run(ports: TeamPorts, { name, role, expires }) {
    const added = await ports.addToken(name, role, expires);
    return { name, role, expires: formatTime(added.expires_ms), token: added.token };
  },
});

const tokenList = defineOperation({
  name: "team.token-list",
  summary: "Lists the tokens of a workspace, without what is secret of them.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({}),
  output: z.strictObject({
    tokens: z.array(
      z.strictObject({
        name: z.string(),
        role: z.enum(WORKSPACE_ROLES),
        state: z.enum(["good", "expired", "revoked"]),
        created_by: z.string(),
        expires: z.string(),
      }),
    ),
  }),
  async run(ports: TeamPorts) {
    const tokens = await ports.listTokens();
    return {
      tokens: tokens.map(({ name, role, state, created_by, expires_ms }) => ({
        name,
        role,
        state,
        created_by,
        expires: formatTime(expires_ms),
      })),
    };
  },
});

const tokenRevoke = defineOperation({
  name: "team.token-revoke",
  summary: "Makes a token worthless, at once.",
  effect: "append",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ name }),
  output: z.strictObject({ name: z.string() }),
  async run(ports: TeamPorts, { name }) {
    if (!(await ports.revokeToken(name))) throw new VerbatimError("TOKEN_UNKNOWN", { details: { name } });
    return { name };
  },
});

const authorize = defineOperation({
  name: "team.authorize",
  summary: "Says whose token a hash belongs to, and what it may do; nobody's where it is not good.",
  effect: "read",
  who: OWNER,
  surfaces: ["http", "library"],
  input: z.strictObject({ token_sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  output: z.strictObject({ name: z.string().nullable(), role: z.enum(WORKSPACE_ROLES).nullable() }),
  async run(ports: TeamPorts, { token_sha256 }) {
    return (await ports.findToken(token_sha256)) ?? { name: null, role: null };
  },
});

/** The operations on tokens. */
export const TOKEN_OPERATIONS = [tokenAdd, tokenList, tokenRevoke, authorize] as const;
