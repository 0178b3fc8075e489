import {
  type AgentRecord,
  readSession,
  SESSION_FORMATS,
  type SessionFormat,
  TRANSCRIPT_VERSION,
  type Transcript,
  toName,
} from "../../../rooms/workflow/index.ts";
import { removeControls } from "../report/logs.ts";
import { outputFile } from "../work/output-log.ts";
import { clean, type Discretion, nothingToExport } from "./discretion.ts";

type Attempt = Transcript["attempts"][number];

/** What was said and done in every attempt, from the redacted copies of its sessions and of what it printed. EXPORT_EMPTY. */
export function buildTranscript(record: AgentRecord, { finder }: Discretion, content: boolean): Transcript {
  const { run, now } = record;
  const say = (text: string) => clean(finder, text);
  const attempts: Attempt[] = [];
  for (let n = 1; n <= now.attempts; n++) {
    const attempt = record.attempt(n);
    if (attempt === null) continue;
    const { argv, profile, started_at, ended_at } = attempt;
    const [argv0 = "agent"] = argv;
    attempts.push({
      n,
      profile: profile?.name ?? "none",
      argv0: argv0.replace(/^.*[/\\]/, "") || "agent",
      ...(content ? { argv: argv.map(say) } : {}),
      started_at,
      ended_at,
      sessions: readSessions(record, n, say, content),
      output: readPrinted(record, outputFile(n, "stdout"), say, content),
      errors: readPrinted(record, outputFile(n, "stderr"), say, content),
    });
  }
  if (!attempts.some(({ sessions, output, errors }) => sessions.length > 0 || output !== null || errors !== null)) {
    const why = now.pruned_at === undefined ? "its agent never started" : `they were pruned on ${now.pruned_at}`;
    throw nothingToExport(run, `there are no sessions and no output of ${run.id}: ${why}`);
  }
  return {
    schema_version: TRANSCRIPT_VERSION,
    run_id: run.id,
    state: now.state,
    content,
    ...(content ? { goal: say(now.goal) } : {}),
    attempts,
  };
}

function readSessions(
  record: AgentRecord,
  n: number,
  say: (text: string) => string,
  content: boolean,
): Attempt["sessions"] {
  return (record.usage(n)?.sessions ?? []).flatMap(({ format, file, sha256, session }) => {
    if (file === null || sha256 === null || !isKnown(format)) return [];
    const bytes = record.run.read(`agent/attempts/${toName(n)}/${file}`);
    if (bytes === null) return [];
    const { entries, unread, truncated } = readSession(format, bytes);
    return [
      {
        ...{ format, session, sha256, unread },
        ...(truncated ? { truncated } : {}),
        entries: entries.map(({ text, ...facts }) => {
          // What was escaped in the file could not be recognized there.
          const said = say(text);
          return { ...facts, bytes: Buffer.byteLength(said), ...(content ? { text: said } : {}) };
        }),
      },
    ];
  });
}

function isKnown(format: string): format is SessionFormat {
  return SESSION_FORMATS.some((one) => one === format);
}

function readPrinted(
  { run }: AgentRecord,
  file: string,
  say: (text: string) => string,
  content: boolean,
): Attempt["output"] {
  const bytes = run.read(file);
  if (bytes === null) return null;
  const text = content ? { text: say(removeControls(new TextDecoder().decode(bytes))) } : {};
  return { bytes: bytes.length, sha256: run.ports.crypto.sha256(bytes), ...text };
}
