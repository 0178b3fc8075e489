import type { Output } from "../../../app/operations.ts";
import { showWritten } from "../../../core/text/index.ts";
import type { Io } from "../io.ts";
import { shortId } from "../table.ts";
import { defineVerb, type Verb } from "../verb.ts";

type Report = Output<"world.verify">;
type Trust = NonNullable<Report["trust"]>;
type Call = Output<"world.inspect">["calls"][number];

function renderReport({ ok, world_id, checked, head, checkpoint, trust, findings }: Report, io: Io): void {
  for (const { code, where, message, fix } of findings) {
    io.line(`${io.paint.bad(code)} at ${where}: ${message}`);
    io.line(`  fix: ${fix}`);
  }
  const { records, entries, outcomes } = checked;
  io.line(
    `${ok ? io.paint.good("ok") : io.paint.bad("not ok")} ${world_id}: ${records} records, ${entries} entries, ${outcomes} answers`,
  );
  if (head !== null) io.line(`head ${head.position} ${head.hash}`);
  if (checkpoint !== null) {
    const made = checkpoint.time === null ? "from the file" : `made ${checkpoint.time}`;
    io.line(`checkpoint of ${checkpoint.tree_size} entries, ${made}`);
  }
  if (trust !== undefined && trust !== null) renderTrust(trust, ok, io);
}

function renderTrust({ verdict, code, named_keys, valid_keys }: Trust, ok: boolean, io: Io): void {
  const keys = (ids: readonly string[]) => ids.map((id) => shortId(showWritten(id), io.flags.full)).join(", ");
  io.line(`trust ${verdict}${code === null ? "" : ` (${code})`} ${keys(valid_keys)}`.trimEnd());
  if (verdict === "UNCHECKED") {
    io.line(`  it names the key ${keys(named_keys)}; no signature was checked (use --trust)`);
  }
  if (verdict === "TRUSTED" && ok) {
    io.line("  the holders of these keys vouch for this file, not for the truth of its lines");
  }
}

export const HISTORY_VERBS: readonly Verb[] = [
  defineVerb("world.fork", {
    path: ["fork"],
    args: [{ field: "cursor", label: "CURSOR" }],
    flags: { viewer: { name: "as", value: "VIEWER" }, world_id: { name: "id" }, key: { hidden: true } },
    examples: ['verbatim world fork c1.e_fambspyrfwhaeypi.YhkiXfRpWWYzjCvD --title "What if"'],
    render({ world_id, parent_world_id, parent_position }, io) {
      io.line(`${world_id} from ${parent_world_id} at ${parent_position}`);
    },
  }),
  defineVerb("world.export", {
    path: ["export"],
    flags: { viewer: { name: "as", value: "VIEWER" }, out: { value: "FILE" }, sign: { value: "KEY" } },
    examples: [
      "verbatim world export --out harbour.vworld.jsonl",
      "verbatim world export --out harbour.vworld.jsonl --sign harbour",
      "verbatim world export --kind viewer --as ANA --json",
    ],
    lines: "json",
    render({ lines, file, sha256, key_id }, io) {
      io.line(`${lines} lines${file === null ? "; use --out FILE or --json" : ` in ${file}`}`);
      io.line(`sha256 ${sha256}`);
      if (key_id !== null) io.line(`signed by ${shortId(key_id, io.flags.full)}`);
    },
  }),
  defineVerb("world.import", {
    path: ["import"],
    args: [{ field: "file", label: "FILE" }],
    flags: {
      key: { hidden: true },
      trust: { value: "POLICY" },
      greeting: { value: "N" },
      person: { value: "ID" },
      import_rules: { value: "RULES" },
    },
    examples: [
      "verbatim world import mira.png --preview",
      "verbatim world import mira.png --greeting 1 --person MIRA",
      'verbatim world import evening.jsonl --new --title "An evening"',
      "verbatim world import harbour.vworld.jsonl --as w_harbour-2 --trust trust.json",
    ],
    render({ world_id, format, preview, people, lines, not_imported, lost, greetings, entries, head_hash }, io) {
      for (const { person_id, display_name } of people) io.line(`person ${person_id} (${showWritten(display_name)})`);
      for (const { channel, author, text, visible_to } of lines) {
        io.line(`${channel} ${author} [${visible_to.join(", ") || "everybody"}] ${showWritten(text)}`);
      }
      if (greetings.length > 1) {
        for (const { index, excerpt } of greetings) io.line(`greeting ${index} ${showWritten(excerpt)}`);
      }
      for (const where of not_imported) io.line(`left out ${showWritten(where)}`);
      for (const { what, count, where } of lost)
        io.line(`lost ${what} ${count} time${count === 1 ? "" : "s"}, first at ${showWritten(where)}`);
      io.line(preview ? `${format}: nothing was written` : `${format} into ${world_id}: ${entries} entries`);
      if (head_hash !== null) io.line(`head ${head_hash}`);
    },
  }),
  defineVerb("world.verify", {
    path: ["verify"],
    flags: { trust: { value: "POLICY" } },
    examples: ["verbatim world verify", "verbatim world verify --file harbour.vworld.jsonl --trust trust.json"],
    render: renderReport,
    exit: ({ ok }) => (ok ? 0 : 1),
  }),
  defineVerb("world.inspect", {
    path: ["inspect"],
    args: [{ field: "request_id", label: "REQUEST_ID" }],
    examples: [
      "verbatim world inspect cli-0123456789abcdef",
      "verbatim world inspect cli-0123456789abcdef --call 1 --raw",
    ],
    render({ calls, raw }, io) {
      for (const [i, call] of calls.entries()) {
        if (raw) printRaw(call, io);
        else printCall(call, i + 1, io);
      }
      if (calls.length === 0) io.note("no model call was kept for this request");
    },
  }),
];

function printCall(call: Call, number: number, io: Io): void {
  const time = `${call.estimated_tokens} tokens, ${call.duration_ms} ms`;
  io.line(
    `${io.paint.bold(`call ${number}`)} ${call.purpose} ${call.actor} (${call.provider}) ${time}: ${call.verdict}`,
  );
  for (const { part, bytes, tokens, entry_ids } of call.parts) {
    const size = `${String(bytes).padStart(7)} bytes ${String(tokens).padStart(6)} tokens`;
    io.line(`  ${part.padEnd(14)} ${size}  ${entry_ids.join(" ")}`.trimEnd());
  }
}

function printRaw({ messages, raw, verdict }: Call, io: Io): void {
  for (const { role, content } of messages) io.line(`${io.paint.bold(role)}\n${showWritten(content)}`);
  io.line(`${io.paint.bold("answer")}\n${showWritten(raw ?? "")}`);
  io.line(`${io.paint.bold("verdict")} ${verdict}`);
}
