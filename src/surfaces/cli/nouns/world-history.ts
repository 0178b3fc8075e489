import type { Io } from "../io.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Verb } from "../verb.ts";
import { shown } from "./world-text.ts";

interface Report {
  readonly world_id: string;
  readonly ok: boolean;
  readonly checked: { readonly records: number; readonly entries: number; readonly outcomes: number };
  readonly head: { readonly position: number; readonly hash: string } | null;
  readonly findings: readonly { code: string; where: string; message: string; fix: string }[];
}

interface Imported {
  readonly world_id: string;
  readonly format: string;
  readonly preview: boolean;
  readonly people: readonly { person_id: string; display_name: string }[];
  readonly lines: readonly {
    channel: string;
    author: string;
    text: string;
    visible_to: readonly string[];
    from: string;
  }[];
  readonly not_imported: readonly string[];
  readonly entries: number;
  readonly head_hash: string | null;
}

interface Calls {
  readonly calls: readonly {
    call_id: string;
    purpose: string;
    actor: string;
    provider: string;
    verdict: string;
    estimated_tokens: number;
    duration_ms: number;
  }[];
}

interface Call {
  readonly messages: readonly { role: string; content: string }[];
  readonly parts: readonly { part: string; bytes: number; tokens: number; entry_ids: readonly string[] }[];
  readonly raw: string | null;
  readonly verdict: string;
}

function renderReport({ ok, world_id, checked, head, findings }: Report, io: Io): void {
  for (const { code, where, message, fix } of findings) {
    io.line(`${io.paint.bad(code)} at ${where}: ${message}`);
    io.line(`  fix: ${fix}`);
  }
  const { records, entries, outcomes } = checked;
  io.line(
    `${ok ? io.paint.good("ok") : io.paint.bad("not ok")} ${world_id}: ${records} records, ${entries} entries, ${outcomes} answers`,
  );
  if (head !== null) io.line(`head ${head.position} ${head.hash}`);
}

export const HISTORY_VERBS: readonly Verb<never>[] = [
  defineVerb<{ readonly world_id: string; readonly parent_world_id: string; readonly parent_position: number }>({
    path: ["fork"],
    operation: "world.fork",
    args: [{ field: "cursor", label: "CURSOR" }],
    flags: { viewer: { name: "as", value: "VIEWER" } },
    examples: ['verbatim world fork c1.e_fambspyrfwhaeypi.YhkiXfRpWWYzjCvD --title "What if"'],
    render({ world_id, parent_world_id, parent_position }, io) {
      io.line(`${world_id} from ${parent_world_id} at ${parent_position}`);
    },
  }),
  defineVerb<{ readonly lines: number; readonly file: string | null; readonly sha256: string }>({
    path: ["export"],
    operation: "world.export",
    flags: { viewer: { name: "as", value: "VIEWER" } },
    examples: [
      "verbatim world export --out harbour.vworld.jsonl",
      "verbatim world export --kind viewer --as ANA --json",
    ],
    lines: "json",
    render({ lines, file, sha256 }, io) {
      io.line(`${lines} lines${file === null ? "; use --out FILE or --json" : ` in ${file}`}`);
      io.line(`sha256 ${sha256}`);
    },
  }),
  defineVerb<Imported>({
    path: ["import"],
    operation: "world.import",
    args: [{ field: "file", label: "FILE" }],
    examples: [
      "verbatim world import mira.png --preview",
      "verbatim world import harbour.vworld.jsonl --as w_harbour-2",
    ],
    render({ world_id, format, preview, people, lines, not_imported, entries, head_hash }, io) {
      for (const { person_id, display_name } of people) io.line(`person ${person_id} (${shown(display_name)})`);
      for (const { channel, author, text, visible_to } of lines) {
        io.line(`${channel} ${author} [${visible_to.join(", ") || "everybody"}] ${shown(text)}`);
      }
      for (const where of not_imported) io.line(`left out ${where}`);
      io.line(preview ? `${format}: nothing was written` : `${format} into ${world_id}: ${entries} entries`);
      if (head_hash !== null) io.line(`head ${head_hash}`);
    },
  }),
  defineVerb<Report>({
    path: ["verify"],
    operation: "world.verify",
    examples: ["verbatim world verify", "verbatim world verify --file harbour.vworld.jsonl"],
    render: renderReport,
    exit: ({ ok }) => (ok ? 0 : 1),
  }),
  defineVerb<Calls>({
    path: ["inspect"],
    operation: "world.calls",
    args: [{ field: "request_id", label: "REQUEST_ID", optional: true }],
    examples: ["verbatim world inspect cli-0123456789abcdef"],
    render({ calls }, io) {
      const rows = calls.map((one) => [
        one.call_id,
        one.purpose,
        one.actor,
        one.provider,
        String(one.estimated_tokens),
        `${one.duration_ms} ms`,
        one.verdict,
      ]);
      const columns = ["call", "purpose", "actor", "writer", "tokens", "time", "verdict"].map((title) => ({ title }));
      for (const line of formatTable(columns, rows, io.width)) io.line(line);
    },
  }),
  defineVerb<Call>({
    path: ["call"],
    operation: "world.call",
    args: [{ field: "call_id", label: "CALL" }],
    examples: ["verbatim world call 5b0c2a52-3d1f-4a52-9c55-7b8f5f7d6a10"],
    render({ messages, parts, raw, verdict }, io) {
      for (const { part, bytes, tokens, entry_ids } of parts) {
        io.line(
          `${part.padEnd(14)} ${String(bytes).padStart(7)} bytes ${String(tokens).padStart(6)} tokens  ${entry_ids.join(" ")}`,
        );
      }
      for (const { role, content } of messages) io.line(`${io.paint.bold(role)}\n${shown(content)}`);
      io.line(`${io.paint.bold("answer")}\n${shown(raw ?? "")}`);
      io.line(`${io.paint.bold("verdict")} ${verdict}`);
    },
  }),
];
