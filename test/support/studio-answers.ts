import type { BrowserContext, Page } from "playwright-core";
import type { OperationName, Operations } from "../../src/api.ts";

/** Answers of the API as a test has recorded or made them; what is not among them is asked of the real server. */
export type Answers = { readonly [N in OperationName]?: Operations[N]["output"] };

/** Lets a window hear these answers in place of the server's. The page, the session and the events stay real. */
export async function answerWith(
  window: BrowserContext,
  answers: () => Answers,
  printed: () => string = () => "",
): Promise<void> {
  await window.route("**/api/operations/*", (route) => {
    const name = new URL(route.request().url()).pathname.split("/").at(-1) as OperationName;
    const answer = answers()[name];
    return answer === undefined ? route.continue() : route.fulfill({ json: answer });
  });
  await window.route("**/api/runs/*/output?*", (route) => {
    const body = Buffer.from(printed());
    const headers = { "verbatim-size": String(body.length), "verbatim-next": String(body.length) };
    return route.fulfill({ body, headers, contentType: "application/octet-stream" });
  });
}

/** Goes to another screen as a link of the page does, without loading it again. */
export async function travel(page: Page, path: string, ready: string): Promise<void> {
  await page.evaluate(
    `history.pushState({}, "", ${JSON.stringify(path)}); dispatchEvent(new PopStateEvent("popstate", { state: {} }))`,
  );
  await page.locator(ready).first().waitFor();
}

/** Texts and numbers that occur nowhere else, so that whatever shows one got it from here. */
export class Marks {
  readonly #prefix: string;
  readonly texts: string[] = [];
  readonly numbers: number[] = [];
  readonly times: string[] = [];
  /** Those that a screen must show. */
  readonly shown = new Set<string | number>();
  #next: number;

  constructor(prefix: string, first: number) {
    this.#prefix = prefix;
    this.#next = first;
  }

  text(shown = true): string {
    const mark = `${this.#prefix}${this.#next++}${this.#prefix}`;
    this.texts.push(mark);
    if (shown) this.shown.add(mark);
    return mark;
  }

  number(shown = true): number {
    // Small enough that two of them are the size of a change that is drawn at once.
    const mark = this.#next * 3 + 3_000;
    this.#next++;
    this.numbers.push(mark);
    if (shown) this.shown.add(mark);
    return mark;
  }

  /** Another day for each, and never today. */
  time(): string {
    const n = this.#next++;
    const mark = new Date(Date.UTC(2021, 0, 1) + n * (86_400_000 + 3_661_000)).toISOString();
    this.times.push(mark);
    return mark;
  }
}

type Report = Operations["agent.show"]["output"];
type Listed = Operations["agent.list"]["output"]["runs"][number];

/** A run in a list, all of it marks. */
export function markedRow(m: Marks, outcome: Listed["outcome"], hasReason: boolean): Listed {
  return {
    run_id: m.text(false),
    goal: m.text(),
    agent: m.text(false),
    outcome,
    reason: hasReason ? m.text(false) : null,
    created_at: m.time(),
    duration_ms: hasReason ? m.number(false) : null,
    files: m.number(false),
    added_lines: m.number(false),
    deleted_lines: m.number(false),
    cost: null,
    run_dir: m.text(false),
    root: m.text(false),
    race: null,
  };
}

/** Everything the first screen can be told; with `bare`, only what every answer has. */
export function markedHome(m: Marks, bare: boolean): Operations["studio.home"]["output"] {
  const working = { since: m.time(), pid: m.number(false) };
  const verified = () => ({ at: m.time(), ok: false, entries: m.number(false), problems: m.number() });
  const line = { name: m.text(false), status: "fail" as const, message: m.text(), fix: bare ? null : m.text(false) };
  return {
    needs_you: {
      total: m.number(),
      runs: [markedRow(m, "verified", false), markedRow(m, "rejected", !bare)],
    },
    runs: m.number(false),
    at_work: [{ ...markedRow(m, "working", false), ...working, last_line: bare ? "" : m.text() }],
    worlds: [
      {
        world_id: m.text(false),
        title: m.text(),
        world_time: m.time(),
        entries: m.number(false),
        last_line: bare ? null : { author: m.text(false), text: m.text(), at: m.time() },
      },
    ],
    health: {
      ledger: {
        entries: m.number(),
        days: Array.from({ length: 30 }, () => m.number(false)),
        verified: bare ? null : verified(),
      },
      doctor: { checked_at: bare ? null : m.time(), lines: [line] },
    },
    next: bare ? null : { code: "NO_VERIFY_COMMAND", says: m.text(), found: m.text(), write: m.text() },
  };
}

export function markedList(m: Marks): Operations["agent.list"]["output"] {
  const rows = (["verified", "verify_failed", "applied"] as const).map((outcome) => markedRow(m, outcome, true));
  return { runs: rows, total: m.number(false), next: null, working: [] };
}

/** A whole report; `bare` has null wherever a report may have it. */
export function markedReport(m: Marks, run: string, bare: boolean): Report {
  const command = () => ({ cmd: m.text(), exit_code: 0, duration_ms: m.number(false) });
  const file = { operation: "modify" as const, added: m.number(false), deleted: m.number(false) };
  const evidence = (what: Report["evidence"][number]["what"], part: Report["evidence"][number]["part"]) => ({
    part,
    what,
    value: bare ? null : m.text(),
    file: bare ? null : m.text(false),
    sha256: null,
    entry: bare ? null : m.number(),
  });
  // One stands in the change that is shown, the other was said about an earlier one.
  const comment = (candidate: number): Report["comments"][number] => ({
    id: m.text(false),
    at: { candidate, path: run, side: "result", from: m.number(candidate !== 1), to: null },
    quote: [m.text(candidate !== 1)],
    text: m.text(),
    actor: m.text(),
    created_at: m.time(),
    withdrawn_at: null,
    sent: [],
  });
  const entry = (state: Report["timeline"][number]["state"]) => ({
    index: m.number(),
    position: m.number(false),
    hash: m.text(false),
    kind: m.text(state === null && bare),
    at: m.time(),
    actor: m.text(),
    state,
    reason: bare || state === null ? null : m.text(),
    event: bare || state !== null ? null : m.text(),
    path: bare || state !== null ? null : m.text(),
    attempt: null,
    candidate: null,
    verification: null,
    landing: null,
  });
  return {
    summary: {
      run_id: run,
      run_dir: m.text(false),
      goal: m.text(),
      outcome: "verified",
      code: null,
      reason: null,
      created_at: m.time(),
      duration_ms: m.number(false),
      base: { commit: m.text(false), dirty: [], dirty_count: m.number(false) },
      agent: {
        argv: [m.text(), m.text()],
        exit_code: m.number(false),
        duration_ms: m.number(false),
        commits: m.number(false),
        stdout: m.text(false),
        stderr: m.text(false),
        profile: null,
        withheld: bare ? [] : [m.text()],
        hidden: bare ? [] : [m.text()],
        seen: [],
        not_hidden: bare ? [] : [m.text()],
        login: [],
        caps: null,
        money: null,
      },
      proof: null,
      changes: {
        files: [{ ...file, path: m.text(false), kind: "text", bytes: m.number(false), notices: [] }],
        added_lines: m.number(),
        deleted_lines: m.number(),
        ignored: m.number(false),
        binaries: [],
        links: [],
        not_carried: [],
      },
      gate: {
        verdict: "reject",
        code: m.text(false),
        rule: m.text(false),
        permit: [],
        findings: [
          {
            code: m.text(),
            rule: m.text(false),
            path: bare ? null : m.text(),
            line: bare ? null : m.number(),
            says: m.text(),
            flag: bare ? null : m.text(false),
            fix: m.text(false),
          },
        ],
      },
      verify: {
        result: "PASS",
        isolation: m.text(false),
        catalytic_run: null,
        on: bare ? null : m.text(),
        setup: bare ? [] : [{ ...command(), why: m.text() }],
        also_fails: false,
        notices: bare ? [] : [m.text()],
        commands: [command(), command()],
        failures: [],
      },
      shown: bare ? { files: [], bytes: 0 } : { files: [m.text()], bytes: m.number(false) },
      network: bare
        ? null
        : {
            mode: "allow",
            hosts: [m.text()],
            allowed: m.number(),
            refused: m.number(),
            connections: [{ host: m.text(), port: m.number(), verdict: "allowed", count: m.number() }],
            lost: true,
          },
      kept: [],
      landing: null,
      hooks: bare ? { reported: 0, reported_blocked: 0 } : { reported: m.number(), reported_blocked: m.number() },
      usage: null,
    },
    explain: (["agent", "change", "tree"] as const).map((part) => ({
      part,
      mark: "good",
      says: m.text(),
      lines: bare ? [] : [{ mark: null, says: m.text() }],
    })),
    diff: null,
    connections: null,
    compared: null,
    attempts: [],
    candidates: [],
    verifications: [],
    evidence: [evidence("attempt", "agent"), evidence("patch", "change"), evidence("guard", "tree")],
    race: bare ? null : { race_id: m.text(false), run_ids: [run, m.text(false)] },
    comments: bare ? [] : [comment(1), comment(2)],
    timeline: [entry("preparing"), entry(null), entry("verified")],
  };
}

export function markedRecord(m: Marks, run: string): Operations["agent.artifacts"]["output"] {
  return { run_id: run, files: [{ path: m.text(), bytes: m.number(false) }] };
}

export function markedDiff(m: Marks, run: string, bare: boolean): Operations["agent.diff"]["output"] {
  const line = (kind: "context" | "added" | "deleted") => ({ kind, text: m.text(), no_eol: false });
  return {
    run_id: run,
    candidate: bare ? null : 1,
    files: [
      {
        // The file that comments speak of has the name of the run: another mark would be another file.
        path: bare ? `${m.text()}/${m.text()}` : run,
        operation: "modify",
        kind: "text",
        added: m.number(),
        deleted: m.number(),
        bytes: m.number(false),
        mode: null,
        findings: [{ code: m.text(false), says: m.text(), line: bare ? null : m.number() }],
        hunks: [
          {
            n: 1,
            id: m.text(false),
            old_start: m.number(),
            old_lines: m.number(),
            new_start: m.number(),
            new_lines: m.number(),
            added: m.number(false),
            deleted: m.number(false),
            heading: bare ? null : m.text(),
            from: 0,
            lines: [line("context"), line("deleted"), line("added")],
          },
        ],
      },
    ],
    next: null,
  };
}

/** Two runs side by side; the first is the one that the other answers speak of. */
export function markedComparison(m: Marks, run: string, bare: boolean): Operations["agent.compare"]["output"] {
  const one = (run_id: string, outcome: "verified" | "rejected") => ({
    run_id,
    goal: m.text(),
    agent: m.text(),
    outcome,
    reason: bare ? null : m.text(),
    duration_ms: m.number(false),
    cost: null,
    files: m.number(),
    added_lines: m.number(),
    deleted_lines: m.number(),
    findings: bare ? 0 : m.number(),
    verify: bare ? null : "PASS",
  });
  const cell = () => ({
    operation: "modify",
    kind: "text",
    added: m.number(),
    deleted: m.number(),
    same_in: m.number(),
    hunks: [],
  });
  return {
    runs: [one(run, "verified"), one(m.text(false), "rejected")],
    files: [{ path: m.text(), cells: [cell(), bare ? null : cell()] }],
  };
}

export function markedSettings(m: Marks, bare: boolean): Answers {
  const session = () => ({
    id: m.text(false),
    label: m.text(),
    role: "owner" as const,
    world_id: bare ? null : m.text(false),
    opened_by: "link" as const,
    since: m.time(),
    last_use: m.time(),
  });
  const check = (status: "ok" | "warn" | "fail") => ({
    name: m.text(),
    status,
    message: m.text(),
    fix: bare ? null : m.text(),
  });
  const command = (allowed: boolean) => ({
    name: m.text(),
    argv: [m.text(), m.text()],
    feedback: bare ? null : [m.text()],
    profile: bare ? null : m.text(),
    verify: bare ? [] : [m.text()],
    setup: bare ? [] : [m.text()],
    timeout_s: bare ? null : m.number(),
    network: bare ? null : ("allow" as const),
    hosts: bare ? [] : [m.text()],
    keep: bare ? [] : [m.text()],
    sha256: m.text(),
    allowed,
    allowed_at: allowed ? m.time() : null,
  });
  return {
    "agent.commands": {
      commands: [command(true), command(false)],
      verify: [m.text(false)],
      network: "inherit",
      parallel: 2,
      starting: bare ? "allowed" : "typed",
    },
    "studio.sessions": { sessions: [session(), session()] },
    "hall.doctor": { ok: false, checks: [check("ok"), check("warn"), check("fail")] },
  };
}
