import { z } from "zod";
import { defineContract } from "../../../core/contracts/index.ts";
import { SESSION_FORMATS } from "../usage/read-session.ts";

const AGENT_PROFILE_VERSION = "verbatim-agent-profile-v1";

const text = z.string().min(1).max(500);
/** The name of a variable; `*` only at its end. */
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}\*?$/);
const exactVariable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/);
/** A place in the home folder: no `..`, nothing absolute. */
const homePath = z.string().regex(/^~(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)+$/);
const homeGlob = z.string().regex(/^~(?:\/(?!\.{1,2}(?:\/|$))[^/\0]+)+$/);
const pointer = z.string().regex(/^(?:\/(?:[^~/]|~[01])*)+$/);
const HOST =
  /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?::[1-9][0-9]{0,4})?$/;
const hostName = z.string().max(260).regex(HOST);

/** A host that an agent may reach: a name, `*.name`, with `:PORT` (443 unless said). */
const hostEntry = z.union([hostName, z.strictObject({ host: hostName, private: z.boolean().optional() })]);

const place = {
  /** The variable that moves the folder of the agent, where it is set. */
  env_root: exactVariable.optional(),
  /** What of the path that variable stands for (default: the first folder below the home folder). */
  root: homePath.optional(),
};

const login = z.strictObject({
  path: homePath,
  ...place,
  /** What a refreshed file must still be. */
  check: z.enum(["json", "toml", "any"]),
  /** Where two files differ, the one with the larger value here is the newer one. */
  newer: pointer.optional(),
  /** Values that may not change, such as the id of the account. */
  same: z.array(pointer).optional(),
});

const session = z.strictObject({
  glob: homeGlob,
  ...place,
  format: z.enum(SESSION_FORMATS),
});

/** A file of the user in which the agent keeps which providers of models it asks. */
const providerFile = z.strictObject({
  path: homePath,
  ...place,
  /** The object whose keys are names of providers; empty: the whole file. */
  names: z.string().regex(/^(?:\/(?:[^~/]|~[01])*)*$/),
  /** Below each of them: the address that is asked in place of the known one. */
  address: pointer.optional(),
});

const network = z.strictObject({
  hosts: z.array(hostEntry),
  /** Providers of models that the user chose. */
  providers: z
    .strictObject({ from: z.array(providerFile), known: z.record(z.string().min(1).max(100), z.array(hostEntry)) })
    .optional(),
});

const agentProfile = z.strictObject({
  schema_version: z.literal(AGENT_PROFILE_VERSION),
  name: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/),
  title: text,
  detect: z.strictObject({
    /** Names of programs. */
    programs: z.array(text),
    /** Packages whose script is started by another program. */
    scripts: z.array(text).optional(),
    /** A name that others use too counts only in a folder of this name. */
    inside: z.array(z.strictObject({ program: text, folder: text })).optional(),
  }),
  env: z
    .strictObject({
      pass: z.array(variable).optional(),
      set: z.record(exactVariable, z.string().max(10_000)).optional(),
    })
    .optional(),
  login: z.array(login).optional(),
  sessions: z.array(session).optional(),
  network: network.optional(),
  resume: z.strictObject({ argv: z.array(text).min(1), keep_flags: z.boolean().optional() }).optional(),
  /** Who tried it with a live login, or null: nobody did. */
  checked: z
    .strictObject({ version: text, date: z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/) })
    .nullable()
    .optional(),
});

export type AgentProfile = z.infer<typeof agentProfile>;
export type ProviderFile = z.infer<typeof providerFile>;
export type LoginFile = z.infer<typeof login>;
export type SessionPlace = z.infer<typeof session>;

/** A file of `profiles/`, or a member of `agent.profiles`. */
export const AGENT_PROFILE = defineContract({
  room: "workflow",
  name: "agent-profile",
  title: "Profile of an agent",
  summary: "What a known agent needs: how it is recognised, its variables, its login files, its sessions, its hosts.",
  schema: agentProfile,
});
