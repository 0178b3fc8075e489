import { z } from "zod";
import { defineOperation, LOCAL_SURFACES, OWNER } from "../../core/operation.ts";
import { LAND_ALL } from "./landable.ts";
import type { AgentPorts } from "./ports.ts";
import { agentSelection, selectParts } from "./select.ts";

const run = z.string().min(1).max(200).describe("Run id, a unique beginning or the last six digits of one, @ or @2.");
const specs = z.array(z.string().min(1).max(5000)).max(5000).default([]);

const select = defineOperation({
  name: "agent.select",
  summary: "Makes a candidate of a part of a change, judges it and verifies it; nothing is applied.",
  effect: "mutate",
  who: OWNER,
  surfaces: [...LOCAL_SURFACES, "http"],
  localFields: ["here"],
  input: z.strictObject({
    run,
    candidate: z
      .int()
      .min(1)
      .optional()
      .describe("The number of the candidate to choose from (default: the current one)."),
    only: specs.describe("Take only this path, pattern, PATH:1,3-4 or id of a hunk; repeatable."),
    except: specs.describe("Leave out this path, pattern, PATH:1,3-4 or id of a hunk; repeatable."),
    here: z
      .boolean()
      .default(false)
      .describe("In this work tree, also when the run belongs to another work tree of the same repository."),
  }),
  output: agentSelection,
  run: (outside: AgentPorts, { run: name, candidate = null, only, except, here }) =>
    selectParts(outside, name, { ...LAND_ALL, candidate, only, except }, here),
});

/** What somebody who reads a change hunk by hunk asks for. */
export const REVIEW_OPERATIONS = [select] as const;
