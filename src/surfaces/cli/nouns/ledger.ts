import { formatCanonical } from "../../../core/canonical/index.ts";
import { count } from "../../../core/text/index.ts";
import { formatTable, shortId } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

const show = defineVerb("ledger.show", {
  path: ["show"],
  examples: ["verbatim ledger show", "verbatim ledger show --stream context --from 10 --limit 5"],
  render({ entries, total }, io) {
    const rows = entries.map((entry) => [
      String(entry.index),
      entry.stream,
      String(entry.position),
      entry.kind,
      entry.time,
      entry.actor,
      shortId(entry.hash, io.flags.full),
    ]);
    const columns = [
      { title: "index", align: "right" },
      { title: "stream", shrink: true },
      { title: "at", align: "right" },
      { title: "kind", shrink: true },
      { title: "time" },
      { title: "actor", shrink: true },
      { title: "hash" },
    ] as const;
    if (rows.length > 0) for (const line of formatTable(columns, rows, io.width)) io.line(line);
    io.line(`${entries.length} of ${total} entries`);
  },
});

const verify = defineVerb("ledger.verify", {
  path: ["verify"],
  flags: { checkpoint: { value: "FILE" }, trust: { value: "POLICY" } },
  examples: [
    "verbatim ledger verify",
    "verbatim ledger verify --since last",
    "verbatim ledger verify --checkpoint today.dsse.json --trust trust.json",
  ],
  render(report, io) {
    for (const { code, stream, position, expected, actual } of report.problems) {
      const place = stream === "" ? `size ${position}` : `${stream} at ${position}`;
      io.line(`${io.paint.bad(code)} ${place}: expected ${expected}, found ${actual}`);
    }
    if (report.trust !== null) {
      const keys = report.trust.valid_keys.map((key) => shortId(key, io.flags.full)).join(", ");
      io.line(
        `checkpoint ${report.trust.verdict}${report.trust.code === null ? "" : ` (${report.trust.code})`} ${keys}`.trimEnd(),
      );
    }
    if (report.since !== null) io.line(`since the checkpoint of ${count(report.since.tree_size, "entry", "entries")}:`);
    const word = report.ok ? io.paint.good("verified") : io.paint.bad("not verified");
    io.line(
      `${word} ${count(report.entries, "entry", "entries")} in ${count(report.streams, "stream")}, root ${report.root_hash ?? "unknown"}`,
    );
    for (const one of report.proves) io.line(`  proves: ${one}`);
    for (const one of report.does_not_prove) io.line(`  does not prove: ${one}`);
  },
  exit: ({ ok }) => (ok ? 0 : 1),
});

const browse = defineVerb("ledger.browse", {
  path: ["browse"],
  flags: { streams: { name: "stream", value: "NAME" }, kinds: { name: "kind", value: "KIND" } },
  examples: ["verbatim ledger browse", "verbatim ledger browse --kind CHECKPOINT --actor cli --limit 5"],
  render({ items, total, next }, io) {
    const columns = [
      { title: "index", align: "right" },
      { title: "time" },
      { title: "stream", shrink: true },
      { title: "kind", shrink: true },
      { title: "actor", shrink: true },
      { title: "body", shrink: true },
    ] as const;
    const rows = items.map((one) => [String(one.index), one.time, one.stream, one.kind, one.actor, one.excerpt]);
    if (rows.length > 0) for (const line of formatTable(columns, rows, io.width)) io.line(line);
    io.line(`${items.length} of ${total} entries`);
    if (next !== null) io.line(`next: ${io.paint.bold(`--before ${next}`)}`);
  },
});

const entry = defineVerb("ledger.entry", {
  path: ["entry"],
  args: [{ field: "index", label: "INDEX", optional: true }],
  flags: { hash: { value: "HASH" } },
  examples: ["verbatim ledger entry 0", "verbatim ledger entry --hash HASH"],
  render({ line, index, before, after, size }, io) {
    io.line(line);
    io.note(`entry ${index} of ${size}; in its stream after ${before ?? "none"}, before ${after ?? "none"}`);
  },
});

const streams = defineVerb("ledger.streams", {
  path: ["streams"],
  examples: ["verbatim ledger streams", "verbatim ledger streams --prefix agent"],
  render({ items, next }, io) {
    const columns = [
      { title: "stream", shrink: true },
      { title: "entries", align: "right" },
    ] as const;
    const rows = items.map(({ stream, length }) => [stream, String(length)]);
    if (rows.length > 0) for (const line of formatTable(columns, rows, io.width)) io.line(line);
    if (next !== null) io.line(`next: ${io.paint.bold(`--after ${next}`)}`);
  },
});

const growth = defineVerb("ledger.growth", {
  path: ["growth"],
  examples: ["verbatim ledger growth --buckets 7", "verbatim ledger growth --from 2026-01-01T00:00:00.000Z"],
  render({ rooms, buckets }, io) {
    const columns = [{ title: "from" }, ...rooms.map((title) => ({ title, align: "right" as const }))];
    const rows = buckets.map(({ at, entries }) => [at, ...entries.map(String)]);
    if (rows.length > 0) for (const line of formatTable(columns, rows, io.width)) io.line(line);
    else io.line("the ledger is empty");
  },
});

const checkpoints = defineVerb("ledger.checkpoints", {
  path: ["checkpoints"],
  examples: ["verbatim ledger checkpoints"],
  render({ items, next }, io) {
    const columns = [
      { title: "size", align: "right" },
      { title: "root" },
      { title: "key" },
      { title: "time" },
      { title: "entry", align: "right" },
    ] as const;
    const rows = items.map((one) => [
      String(one.tree_size),
      shortId(one.root_hash, io.flags.full),
      shortId(one.key_id, io.flags.full),
      one.time,
      String(one.index),
    ]);
    if (rows.length > 0) for (const line of formatTable(columns, rows, io.width)) io.line(line);
    else io.line("no checkpoint was signed");
    if (next !== null) io.line(`next: ${io.paint.bold(`--before ${next}`)}`);
  },
});

export const noun: Noun = {
  verbs: [
    show,
    browse,
    entry,
    streams,
    growth,
    checkpoints,
    verify,
    defineVerb("ledger.export", {
      path: ["export"],
      lines: "always",
      examples: ["verbatim ledger export > ledger.jsonl", "verbatim ledger export --stream context"],
      render: () => undefined,
    }),
    defineVerb("ledger.checkpoint", {
      path: ["checkpoint"],
      flags: { out: { value: "FILE" } },
      examples: ["verbatim ledger checkpoint --key ci --out today.dsse.json"],
      render(made, io) {
        // Without a file the checkpoint alone goes to standard output, so that a pipe gets something to verify.
        const say = (text: string) => (made.path === null ? io.note(text) : io.line(text));
        say(`${io.paint.good("signed")} ${made.tree_size} entries, root ${made.root_hash}`);
        say(`key ${shortId(made.key_id, io.flags.full)}${made.path === null ? "" : `, written to ${made.path}`}`);
        if (made.path === null) io.line(formatCanonical(made.envelope));
        else io.line(`next: ${io.paint.bold(`verbatim ledger verify --checkpoint ${made.path} --trust POLICY`)}`);
      },
    }),
    defineVerb("ledger.prove", {
      path: ["prove"],
      flags: { entry: { value: "HASH" } },
      examples: ["verbatim ledger prove --entry HASH --json > proof.json"],
      render(proof, io) {
        io.line(`entry ${shortId(proof.entry_hash, io.flags.full)} is number ${proof.index} of ${proof.tree_size}`);
        io.line(`root ${proof.root_hash}`);
        io.line(
          `to save the proof: ${io.paint.bold("--json > proof.json")}, then verbatim ledger check-proof proof.json`,
        );
      },
    }),
    defineVerb("ledger.prove-consistency", {
      path: ["prove-consistency"],
      examples: ["verbatim ledger prove-consistency --from 10 --to 20 --json > proof.json"],
      render(proof, io) {
        io.line(`the first ${proof.first_size} of the ${proof.second_size} entries have not changed`);
        io.line(`roots ${proof.first_root} and ${proof.second_root}`);
      },
    }),
    defineVerb("ledger.check-proof", {
      path: ["check-proof"],
      args: [{ field: "file", label: "FILE" }],
      flags: { root: { value: "HASH" } },
      examples: ["verbatim ledger check-proof proof.json", "verbatim ledger check-proof proof.json --root HASH"],
      render(result, io) {
        const word = result.ok ? io.paint.good("holds") : io.paint.bad("does not hold");
        io.line(`the ${result.kind} proof ${word} for root ${result.root_hash} of ${result.tree_size} entries`);
        io.line("  compare this root with one you trust, for example from a signed checkpoint");
      },
      exit: ({ ok }) => (ok ? 0 : 1),
    }),
  ],
};
