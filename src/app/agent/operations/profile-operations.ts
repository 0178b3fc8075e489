import { z } from "zod";
import { toJson } from "../../../core/canonical/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../../../core/operation.ts";
import {
  type AgentProfile,
  findProfile,
  type KnownProfile,
  PROFILE_SOURCES,
  readProfile,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { listProfiles } from "../request/equip.ts";

const row = z.strictObject({
  name: z.string(),
  title: z.string(),
  source: z.enum(PROFILE_SOURCES).describe("Where it comes from; a later source replaces an earlier one."),
  place: z.string().nullable().describe("The file it was read from; null: the package has it."),
  programs: z.array(z.string()),
  checked: z.string().nullable().describe("The version it was tried with, with a live login; null: unchecked."),
});

function toRow({ profile, source, place }: KnownProfile): z.infer<typeof row> {
  const { name, title, detect, checked } = profile;
  return {
    name,
    title,
    source,
    place,
    programs: [...detect.programs],
    checked: checked == null ? null : `${checked.version}, ${checked.date}`,
  };
}

const list = defineOperation({
  name: "agent.profiles",
  summary: "Lists the profiles of known agents, where each comes from, and whether somebody tried it.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({}),
  output: z.strictObject({ profiles: z.array(row) }),
  run: async (outside: AgentPorts) => ({ profiles: listProfiles(outside).map(toRow) }),
});

const profile = z.record(z.string(), z.unknown()).describe("The profile itself, an agent-profile.");

const show = defineOperation({
  name: "agent.profiles-show",
  summary: "Shows one profile: how the agent is recognised, its variables, login files, sessions and hosts.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ name: z.string().min(1).describe("The name of a profile.") }),
  output: row.extend({ profile }),
  async run(outside: AgentPorts, { name }) {
    const known = findProfile(name, listProfiles(outside));
    return { ...toRow(known), profile: toRecord(known.profile) };
  },
});

const check = defineOperation({
  name: "agent.profiles-check",
  summary: "Judges the file of a profile before it is used.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({ file: z.string().min(1).describe("A file with one profile.") }),
  output: z.strictObject({ name: z.string(), title: z.string() }),
  async run(outside: AgentPorts, { file }) {
    const { name, title } = readProfile(outside.user.readJson(file), file);
    return { name, title };
  },
});

function toRecord(value: AgentProfile): Record<string, unknown> {
  return { ...toJson(value) };
}

export const PROFILE_OPERATIONS = [list, show, check] as const;
