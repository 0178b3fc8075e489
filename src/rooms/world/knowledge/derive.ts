import { isJsonObject, parseJson, toJson, utf8Length } from "../../../core/canonical/index.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { type CallRecord, KEEP_CALLS, toCallRows } from "../beat/calls.ts";
import { type CapsulePack, checkCapsule } from "../contracts/packs.ts";
import type { WorldPorts, WorldStore } from "../operations/ports.ts";
import type { ChatAnswer } from "../ports.ts";
import { loadWorld, type OpenWorld, toLedgerEntry } from "../projection/reading.ts";
import { readCapsule } from "../projection/views.ts";
import { toChatRequest } from "../writer/chat-request.ts";
import type { WriterDown } from "../writer/failures.ts";
import { toMessages } from "../writer/frame.ts";
import { MAX_LEVELS } from "../writer/output.ts";
import { mayBeSent, pairOf } from "../writer/pairs.ts";
import { NOTE_RULES_V1 } from "../writer/rules/note-v1.ts";
import { writerOf } from "../writer/writer-settings.ts";

const MARK = "Non-authoritative note:";
const MAX_NOTE_BYTES = 4096;

const NOTE_SCHEMA = {
  type: "object",
  properties: { note: { type: "string", minLength: 1 } },
  required: ["note"],
  additionalProperties: false,
} as const;

type Ports = WorldPorts & { writable(): Promise<WorldStore> };

/**
 * A capsule with a note that a model derived from its excerpts. Only on request and outside of beats: the note is in
 * no ledger, is never searched and never becomes part of another pack.
 */
export async function deriveNote(
  ports: Ports,
  worldId: string,
  person: string,
  viewer: string | null,
): Promise<CapsulePack> {
  const pack = await readCapsule(ports, worldId, person, viewer);
  const [source] = pack.sections;
  const ids = source!.provenance.used_entry_ids;
  if (ids.length === 0)
    throw new VerbatimError("PROVENANCE_EMPTY", { message: `${person} has no lines to derive from` });
  const { world, entries } = await ports.store.read(async (tx) => {
    const found = await loadWorld(tx.world, worldId);
    return { world: found, entries: (await tx.world.entriesById(found.number, ids)).map(toLedgerEntry) };
  });
  const user = JSON.stringify({
    reply_format: "verbatim.note.v1",
    name: world.cast.people.get(person) ?? world.cast.operator_name,
    lines: source!.text,
  });
  const { note, fault } = await ask(ports, world, user, { person, viewer, pack });
  if (fault !== null) throw fault;
  const text = note.startsWith(MARK) ? note : `${MARK} ${note}`;
  const derived: CapsulePack = {
    ...pack,
    sections: [...pack.sections, { name: "OPTIONAL_DERIVED", text, provenance: { used_entry_ids: ids } }],
  };
  return checkCapsule(toJson(derived), {
    cast: world.cast,
    zones: ports.zones,
    graphemes: ports.graphemes,
    view: { kind: "viewer", id: viewer ?? world.cast.operator_id },
    entries: new Map(entries.map((entry) => [entry.entry_id, entry])),
  });
}

interface Asked {
  readonly person: string;
  readonly viewer: string | null;
  readonly pack: CapsulePack;
}

async function ask(
  ports: Ports,
  world: OpenWorld,
  user: string,
  asked: Asked,
): Promise<{ readonly note: string; readonly fault: VerbatimError | null }> {
  const writer = writerOf(world.state.settings, "WORLD");
  if (writer.kind === "scripted") {
    throw new VerbatimError("WRITER_UNAVAILABLE", {
      message: "the writer of this world is scripted, so there is no model to write a note",
      where: world.state.world_id,
    });
  }
  const pair = pairOf(writer);
  if (pair !== null && !(await mayBeSent(ports, world.state.world_id, pair))) {
    throw new VerbatimError("WRITER_PAIR_FORBIDDEN", {
      message: `the key in ${pair.variable} is not paired with ${pair.origin}`,
      where: "/writer/api_key_env",
    });
  }
  const messages = toMessages(NOTE_RULES_V1.text, user);
  const before = ports.pace.elapsed();
  const request = toChatRequest(world.state.settings, writerOf(world.state.settings, "WORLD"), {
    messages,
    held: { strict: NOTE_SCHEMA, plain: NOTE_SCHEMA },
    user: "SYSTEM_INVOKER",
  });
  const answer = await ports.models.chat(request, new AbortController().signal);
  const read = readNote(answer);
  const call: CallRecord = {
    call_id: ports.ids.uuid(),
    request_id: `derived:${asked.pack.capsule_id}`,
    pass: "NOTE",
    purpose: "DERIVED",
    actor: asked.person,
    view: { kind: "viewer", id: asked.viewer ?? world.cast.operator_id },
    provider: writer.kind,
    model: writer.model,
    rules_version: NOTE_RULES_V1.version,
    messages,
    parts: [],
    raw: "text" in answer ? answer.text : null,
    verdict: "text" in answer ? (read.fault?.code ?? "DERIVED") : toDown(answer).message,
    verdict_where: null,
    lint: [],
    estimated_tokens: messages.reduce((sum, { content }) => sum + ports.tokenizer.count(content), 0),
    reported_input_tokens: "text" in answer ? answer.input_tokens : null,
    reported_output_tokens: "text" in answer ? answer.output_tokens : null,
    duration_ms: Math.round(ports.pace.elapsed() - before),
  };
  await (await ports.writable()).transact(async (tx) => {
    await tx.world.addCalls(world.number, await toCallRows(tx.world, world.number, [call]), KEEP_CALLS);
  });
  return read;
}

function toDown(answer: Exclude<ChatAnswer, { readonly text: string }>): WriterDown {
  return "down" in answer ? answer.down : answer.refused;
}

/** Exactly one object with exactly one text; nothing is salvaged from anything else. */
function readNote(answer: ChatAnswer): { readonly note: string; readonly fault: VerbatimError | null } {
  if (!("text" in answer)) return refused("WRITER_UNAVAILABLE", toDown(answer).message);
  try {
    const value = parseJson(answer.text, { maxDepth: MAX_LEVELS });
    if (!isJsonObject(value)) return refused("WRITER_OUTPUT_NOT_OBJECT", "the answer is not a JSON object");
    const { note } = value;
    if (Object.keys(value).length !== 1 || typeof note !== "string" || note === "") {
      return refused("WRITER_OUTPUT_KEYS", "the answer is not exactly one note");
    }
    if (utf8Length(note) > MAX_NOTE_BYTES) return refused("WRITER_OUTPUT_TOO_LARGE", "the note is too long");
    return { note, fault: null };
  } catch (thrown) {
    if (!isVerbatimError(thrown)) throw thrown;
    return { note: "", fault: thrown };
  }
}

function refused(
  code: "WRITER_UNAVAILABLE" | "WRITER_OUTPUT_NOT_OBJECT" | "WRITER_OUTPUT_KEYS" | "WRITER_OUTPUT_TOO_LARGE",
  message: string,
) {
  return { note: "", fault: new VerbatimError(code, { message }) };
}
