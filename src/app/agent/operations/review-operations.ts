import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES, OWNER } from "../../../core/operation.ts";
import { LAND_ALL } from "../landing/landable.ts";
import { agentReview, decidedFile, keepChoice, readReview } from "../landing/review.ts";
import { agentSelection, selectParts } from "../landing/select.ts";
import type { AgentPorts } from "../ports.ts";

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
    picks: z
      .array(
        z.strictObject({
          path: z.string().min(1).max(5000),
          hunks: z
            .union([
              z.literal("all"),
              z
                .array(z.union([z.int().min(1), z.string().regex(/^[1-9][0-9]*\.[1-9][0-9]*$/)]))
                .min(1)
                .max(20_000),
            ])
            .describe("all, or the numbers of hunks; 3.1 is the first part of hunk 3."),
        }),
      )
      .min(1)
      .max(5000)
      .optional()
      .describe("What exactly is taken, in place of only: paths as they are, hunks by number."),
    here: z
      .boolean()
      .default(false)
      .describe("In this work tree, also when the run belongs to another work tree of the same repository."),
  }),
  output: agentSelection,
  run: (outside: AgentPorts, { run: name, candidate = null, only, except, picks, here }) => {
    if (picks !== undefined && only.length > 0) {
      throw new VerbatimError("USAGE", { message: "only and picks contradict each other" });
    }
    return selectParts(outside, name, { ...LAND_ALL, candidate, only, except, picks }, here);
  },
});

const review = defineOperation({
  name: "agent.review",
  summary: "Lets you read a change hunk by hunk in a terminal, choose, verify the choice and apply it.",
  effect: "read",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    run,
    context: z.int().min(0).max(200).default(3).describe("Unchanged lines shown around each hunk."),
  }),
  output: agentReview,
  run: readReview,
});

const keep = defineOperation({
  name: "agent.review-keep",
  summary: "Keeps what was decided so far about the hunks of a candidate, for the next look at it.",
  effect: "mutate",
  surfaces: ["library", "cli"],
  input: z.strictObject({
    run,
    candidate: z.int().min(1),
    files: z.array(decidedFile).max(5000).describe("Files with what is taken and what is left: all, 3 or 3.1."),
  }),
  output: z.strictObject({ kept: z.int().describe("Decisions that are kept.") }),
  run: keepChoice,
});

/** What somebody who reads a change hunk by hunk asks for. */
export const REVIEW_OPERATIONS = [select, review, keep] as const;
