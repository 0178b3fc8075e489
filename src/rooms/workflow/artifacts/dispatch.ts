import { isJsonObject, type JsonObject, type JsonValue } from "../../../core/canonical/index.ts";
import { toPointer } from "../../../core/contracts/index.ts";
import type { Verdict } from "./finding.ts";
import { FieldCheck, validateJson } from "./json.ts";

export const DISPATCH_FILE = "artifacts/dispatch_config.json";
export const DISPATCH_VERSION = "ctcp-dispatch-config-v1";
const DEFAULT_MAX_PROMPTS = 20;

export const PROVIDERS = ["manual_outbox", "ollama_agent", "api_agent", "local_exec", "openai_agent"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

const AGENTS = ["manual_outbox", "api_agent", "ollama_agent", "openai_agent"] as const;

/** Which providers may act for a role (Artifact Contracts K), and which one does without an entry. */
const ROLES = {
  librarian: { allowed: ["local_exec", "manual_outbox"], fallback: "local_exec", followsMode: false },
  chair: { allowed: AGENTS, fallback: "manual_outbox", followsMode: true },
  contract_guardian: { allowed: ["local_exec"], fallback: "local_exec", followsMode: false },
  cost_controller: { allowed: AGENTS, fallback: "manual_outbox", followsMode: false },
  patchmaker: { allowed: AGENTS, fallback: "manual_outbox", followsMode: true },
  fixer: { allowed: AGENTS, fallback: "manual_outbox", followsMode: true },
  researcher: { allowed: ["manual_outbox", "api_agent"], fallback: "manual_outbox", followsMode: false },
} as const satisfies Record<
  string,
  { readonly allowed: readonly ProviderName[]; readonly fallback: ProviderName; readonly followsMode: boolean }
>;

export type DispatchRole = keyof typeof ROLES;

/** The dispatch of a run, resolved. */
export interface Dispatch {
  readonly mode: ProviderName;
  readonly providers: Readonly<Record<DispatchRole, ProviderName>>;
  readonly max_outbox_prompts: number;
}

/** Judges the value of dispatch_config.json and resolves who acts for each role. */
export function checkDispatch(value: JsonValue, file = DISPATCH_FILE): Verdict<Dispatch> {
  const check = new FieldCheck(file);
  const root = check.object(value, "");
  if (root === null) return check.verdict<Dispatch>(null);
  check.schemaVersion(root, DISPATCH_VERSION);
  const mode = check.memberText(root, "", "mode");
  if (mode !== null && !isProvider(mode)) {
    check.add("DISPATCH_PROVIDER_UNKNOWN", "/mode", `${JSON.stringify(mode)} is not a provider`);
  }
  const entries = readEntries(root, mode, check);
  const most = readMost(root, check);
  if (mode === null || !isProvider(mode)) return check.verdict<Dispatch>(null);
  const providers = Object.fromEntries(
    Object.entries(ROLES).map(([role, { allowed, fallback, followsMode }]) => {
      const byMode = followsMode && (allowed as readonly ProviderName[]).includes(mode) ? mode : fallback;
      return [role, entries.get(role) ?? byMode];
    }),
  ) as Record<DispatchRole, ProviderName>;
  return check.verdict({ mode, providers, max_outbox_prompts: most });
}

/**
 * Judges the bytes of dispatch_config.json.
 *
 * @example
 * validateDispatch("{}").errors[0]?.code; // => "FIELD_MISSING"
 */
export function validateDispatch(bytes: Uint8Array | string, file = DISPATCH_FILE): Verdict<Dispatch> {
  return validateJson(bytes, file, (value) => checkDispatch(value, file));
}

function isProvider(name: string): name is ProviderName {
  return (PROVIDERS as readonly string[]).includes(name);
}

function readEntries(root: JsonObject, mode: string | null, check: FieldCheck): Map<string, ProviderName> {
  const entries = new Map<string, ProviderName>();
  if (!Object.hasOwn(root, "role_providers")) return entries;
  const listed = check.memberObject(root, "", "role_providers");
  for (const [role, provider] of Object.entries(listed ?? {})) {
    const at = toPointer("/role_providers", role);
    if (!Object.hasOwn(ROLES, role)) check.add("DISPATCH_ROLE_UNKNOWN", at, `${JSON.stringify(role)} is not a role`);
    else if (typeof provider !== "string") check.add("FIELD_TYPE", at, "must be a string");
    else if (!isProvider(provider)) {
      check.add("DISPATCH_PROVIDER_UNKNOWN", at, `${JSON.stringify(provider)} is not a provider`);
    } else if (!(ROLES[role as DispatchRole].allowed as readonly string[]).includes(provider)) {
      check.add("DISPATCH_PROVIDER_NOT_ALLOWED", at, `${provider} may not act for ${role}`);
    } else if (role === "librarian" && provider === "manual_outbox" && mode !== "manual_outbox") {
      check.add("DISPATCH_LIBRARIAN_LOCK", at, "a manual librarian requires the mode manual_outbox");
    } else entries.set(role, provider);
  }
  return entries;
}

function readMost(root: JsonObject, check: FieldCheck): number {
  if (!Object.hasOwn(root, "budgets")) return DEFAULT_MAX_PROMPTS;
  const budgets = check.memberObject(root, "", "budgets");
  if (!isJsonObject(budgets) || !Object.hasOwn(budgets, "max_outbox_prompts")) return DEFAULT_MAX_PROMPTS;
  return check.memberInteger(budgets, "/budgets", "max_outbox_prompts", 1) ?? DEFAULT_MAX_PROMPTS;
}

/** The dispatch_config.json that `new` writes when nothing else is configured. */
export const DEFAULT_DISPATCH = {
  schema_version: DISPATCH_VERSION,
  mode: "manual_outbox",
  role_providers: { librarian: "local_exec", contract_guardian: "local_exec" },
  budgets: { max_outbox_prompts: DEFAULT_MAX_PROMPTS },
} as const;
