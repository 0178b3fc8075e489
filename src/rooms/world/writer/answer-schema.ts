import { TOOLS } from "../contracts/tool-request.ts";
import { SCOPES } from "../contracts/visibility.ts";
import { type Cast, WORLD } from "../people/cast.ts";
import type { PassPlan } from "./beat-loop.ts";
import { mayWrite } from "./frame.ts";

/** JSON Schemas that a provider may hold an answer to. The answer is parsed strictly all the same. */
export interface AnswerSchemas {
  /** Every field required and nullable, as some providers want it; a key with null is absent. */
  readonly strict: object;
  readonly plain: object;
}

type Fields = Readonly<Record<string, object>>;

/** The schemas of one pass: who may be written and who may perceive it are constants of it. */
export function toAnswerSchemas(cast: Cast, plan: PassPlan): AnswerSchemas {
  return { strict: toStrict(cast, plan), plain: toPlain(cast, plan) };
}

const text = { type: "string", minLength: 1 } as const;

function object(properties: Fields, required: readonly string[] = Object.keys(properties)): object {
  return { type: "object", properties, required, additionalProperties: false };
}

const constant = (value: string): object => ({ type: "string", enum: [value] });
const orNull = (schema: object): object => ({ anyOf: [schema, { type: "null" }] });

function lines(cast: Cast, plan: PassPlan, strict: boolean): object {
  const audience = [...cast.present, WORLD];
  const visibility = object({
    scope: { type: "string", enum: [...SCOPES] },
    visible_to: { type: "array", items: { type: "string", enum: audience } },
  });
  const entries = mayWrite(cast, plan).map(({ channel, author_id, author_class }) => {
    const author = object({ author_id: constant(author_id), author_class: constant(author_class) });
    const fields = { author, channel: constant(channel), text: strict ? { type: "string" } : text };
    return strict
      ? object({ ...fields, visibility: orNull(visibility) })
      : object({ ...fields, visibility }, Object.keys(fields));
  });
  return { type: "array", items: { anyOf: entries }, ...(strict ? {} : { maxItems: 16 }) };
}

function toPlain(cast: Cast, plan: PassPlan): object {
  const constraints = object({ limit: { type: "integer", minimum: 1, maximum: 20 }, person_id: text }, []);
  const tool = object({ name: { enum: [...TOOLS] }, query_text: { type: "string" }, constraints }, [
    "name",
    "query_text",
  ]);
  return {
    anyOf: [
      object({ no_write: object({ reason: { type: ["string", "null"] } }, []) }),
      object({ tool_request: object({ tool }) }),
      object({ proposed_write_bundle: object({ entries: lines(cast, plan, false) }) }),
    ],
  };
}

function toStrict(cast: Cast, plan: PassPlan): object {
  const string = { type: "string" };
  const constraints = object({ limit: orNull({ type: "integer" }), person_id: orNull(string) });
  const tool = object({
    name: { type: "string", enum: [...TOOLS] },
    query_text: orNull(string),
    constraints: orNull(constraints),
  });
  return object({
    no_write: orNull(object({ reason: orNull(string) })),
    tool_request: orNull(object({ tool })),
    proposed_write_bundle: orNull(object({ entries: lines(cast, plan, true) })),
  });
}
