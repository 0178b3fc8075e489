import type { z } from "zod";
import { type JsonValue, parseJson } from "../canonical/index.ts";
import { VerbatimError } from "../errors/index.ts";
import type { EntryRecord, NewEntry } from "../ports.ts";

/** The bodies of a room's ledger records by kind. */
export type RecordBodies = Readonly<Record<string, z.ZodType>>;

type DeepReadonly<T> = unknown extends T ? T : T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** What the body of one kind of record is made from. */
export type BodyOf<B extends RecordBodies, K extends keyof B> = DeepReadonly<z.output<B[K]>>;

/** A record of one of the kinds, told apart by its kind. */
export type RecordOf<B extends RecordBodies> = {
  readonly [K in keyof B & string]: { readonly kind: K; readonly body: z.output<B[K]> };
}[keyof B & string];

/** What a room writes to the ledger: the only place that makes its entries and the only one that reads them. */
export interface Records<B extends RecordBodies> {
  /** A new entry. The compiler holds its body to the schema of its kind. */
  make<K extends keyof B & string>(kind: K, actor: string, body: BodyOf<B, K>): NewEntry & { readonly kind: K };
  /** The same for a caller who does not know the actor. */
  draft<K extends keyof B & string>(kind: K, body: BodyOf<B, K>): Pick<NewEntry, "kind" | "body">;
  /** A record that is not an entry yet. */
  of<K extends keyof B & string>(kind: K, body: BodyOf<B, K>): RecordOf<B>;
  /** The body itself where it has the shape of its kind, or what is wrong with it. */
  check(kind: string, body: JsonValue): RecordOf<B> | string;
  /** The record of an entry; throws INTERNAL for one that this room never writes. */
  read(entry: Pick<EntryRecord, "kind" | "body" | "stream" | "position">): RecordOf<B>;
  is(kind: string): kind is keyof B & string;
}

/** Declares the records of a room. What an entry holds beyond its schema stays in it. */
export function defineRecords<const B extends RecordBodies>(bodies: B): Records<B> {
  const is = (kind: string): kind is keyof B & string => Object.hasOwn(bodies, kind);
  const check = (kind: string, body: JsonValue): RecordOf<B> | string => {
    if (!is(kind)) return `there is no record of kind ${kind}`;
    const parsed = bodies[kind]!.safeParse(body);
    // The entry is what was hashed, so it is handed out as it is and not as the schema would write it.
    if (parsed.success) return { kind, body } as RecordOf<B>;
    const [issue] = parsed.error.issues;
    return `/${issue!.path.join("/")}: ${issue!.message}`;
  };
  return {
    is,
    check,
    of: (kind, body) => ({ kind, body }) as RecordOf<B>,
    draft: (kind, body) => ({ kind, body: body as JsonValue }),
    make: (kind, actor, body) => ({ kind, actor, body: body as JsonValue }),
    read({ kind, body, stream, position }) {
      const record = check(kind, parseJson(body));
      if (typeof record !== "string") return record;
      throw new VerbatimError("INTERNAL", {
        message: `the entry is not a record of its kind: ${record}`,
        where: `${stream}@${position}`,
      });
    },
  };
}
