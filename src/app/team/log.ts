import { VerbatimError } from "../../core/errors/index.ts";
import { formatTime } from "../../core/time.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What a line of the log may say besides its words, in this order and nothing else. */
const MEMBERS = [
  "workspace",
  "worker",
  "request_id",
  "actor",
  "job",
  "run",
  "step",
  "attempt",
  "code",
  "ms",
  "trace_id",
] as const;

export type LogFacts = { readonly [name in (typeof MEMBERS)[number]]?: string | number | undefined };

const MOST_CHARACTERS = 2000;

/** What must not be read in a log, however it came into a message: passwords of addresses, tokens, what authorises. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]*@/gi, "$1***@"],
  [/\bvt_[0-9a-f]+/g, "vt_***"],
  [/\b(bearer|basic)\s+[^\s"']+/gi, "$1 ***"],
  [/\b(password|passwd|pgpassword|token|secret|api[_-]?key)(["']?\s*[=:]\s*["']?)[^\s"',;&]+/gi, "$1$2***"],
];

/** A text without secrets, on one line. */
export function hideSecrets(text: string): string {
  const hidden = SECRETS.reduce((left, [pattern, instead]) => left.replace(pattern, instead), text);
  return hidden.slice(0, MOST_CHARACTERS);
}

/** One line of the log: a JSON object whose members have a fixed order. */
export function formatLog(level: LogLevel, now: number, msg: string, facts: LogFacts): string {
  const line: Record<string, string | number> = { level, time: formatTime(now), msg: hideSecrets(msg) };
  for (const name of MEMBERS) {
    const value = facts[name];
    if (value !== undefined) line[name] = typeof value === "string" ? hideSecrets(value) : value;
  }
  return JSON.stringify(line);
}

/** What a process of a team writes on standard error while it runs. */
export class Log {
  readonly #write: (line: string) => void;
  readonly #now: () => number;
  readonly #least: number;
  readonly #facts: LogFacts;

  constructor(
    write: (line: string) => void,
    { now, level, facts = {} }: { readonly now: () => number; readonly level: LogLevel; readonly facts?: LogFacts },
  ) {
    this.#write = write;
    this.#now = now;
    this.#least = LOG_LEVELS.indexOf(level);
    this.#facts = facts;
  }

  say(level: LogLevel, msg: string, facts: LogFacts = {}): void {
    if (LOG_LEVELS.indexOf(level) < this.#least) return;
    this.#write(formatLog(level, this.#now(), msg, { ...this.#facts, ...facts }));
  }
}

/** How much is said: what was asked for, else what the environment says. */
export function chooseLevel(asked: LogLevel | undefined, env: NodeJS.ProcessEnv): LogLevel {
  const said = asked ?? env["VERBATIM_LOG_LEVEL"] ?? "";
  if (said === "") return "info";
  const level = LOG_LEVELS.find((one) => one === said);
  if (level !== undefined) return level;
  throw new VerbatimError("USAGE", {
    message: `a log has one of the levels ${LOG_LEVELS.join(", ")}`,
    where: "VERBATIM_LOG_LEVEL",
  });
}
