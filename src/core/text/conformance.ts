import { type JsonObject, type JsonValue, toJson, utf8Length } from "../canonical/index.ts";
import { given } from "../conformance-input.ts";
import type { SyncCrypto } from "../ports.ts";
import { type Budgets, type Charge, chargeBudgets } from "./budget.ts";
import { sliceText } from "./slice.ts";

/** What the areas of core/text answer for a vector's input. */
export const TEXT_AREAS = {
  "context.slice": (input: JsonObject, { crypto }: { crypto: SyncCrypto }): JsonValue => {
    const content = sliceText(String(input["content"]), String(input["slice"]));
    return { bytes: utf8Length(content), content, content_hash: crypto.sha256(content) };
  },
  "context.budget": (input: JsonObject): JsonValue => {
    const { refs, steps, budgets } = given<{ refs: string[]; steps: Charge[]; budgets: Budgets }>(input);
    return toJson(chargeBudgets(refs, steps, budgets));
  },
} as const;
