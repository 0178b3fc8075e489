// Every word of the Studio that the server does not say. One function a sentence: nothing is put together elsewhere, so
// that another language can order its words as it likes.

import { bundles } from "./bundles.ts";
import { comments } from "./comments.ts";
import { compare } from "./compare.ts";
import { context } from "./context.ts";
import { count, group } from "./counts.ts";
import { jobs } from "./jobs.ts";
import { ledger } from "./ledger.ts";
import { live } from "./live.ts";
import { panel } from "./panel.ts";
import { record } from "./record.ts";
import { report } from "./report.ts";
import { roles } from "./roles.ts";
import { start } from "./start.ts";
import { worlds } from "./worlds.ts";

export type Outcome =
  | "preparing"
  | "working"
  | "capturing"
  | "judging"
  | "verifying"
  | "landing"
  | "rejected"
  | "verify_failed"
  | "agent_failed"
  | "timed_out"
  | "over_limit"
  | "interrupted"
  | "verified"
  | "unverified"
  | "unchanged"
  | "not_started"
  | "applied"
  | "undone"
  | "discarded";

/** What a verdict is made of, as the server gave it. */
export interface VerdictFacts {
  readonly files: number;
  readonly added: number;
  readonly deleted: number;
  readonly checks: number;
  readonly reason: string | null;
  readonly untouched: boolean;
  /** When it landed, as it is shown. */
  readonly landed: string | null;
}

const countFiles = (number: number) => count(number, "file", "files");
const plusMinus = (added: number, deleted: number) => `+${group(added)} -${group(deleted)}`;
const size = ({ files, added, deleted }: VerdictFacts) => `${countFiles(files)}, ${plusMinus(added, deleted)}`;
const because = ({ reason }: VerdictFacts) =>
  reason === null ? "." : `: ${reason}${/[.!?]$/.test(reason) ? "" : "."}`;

export const en = {
  product: "Verbatim",
  skip: "Skip to the content",
  regions: { places: "Places", content: "Content", side: "What this rests on" },
  places: {
    home: "Home",
    runs: "Runs",
    context: "Context",
    jobs: "Jobs",
    bundles: "Bundles",
    ledger: "Ledger",
    worlds: "Worlds",
    settings: "Settings",
    more: "More",
  },
  connection: {
    live: "Live",
    connecting: "Connecting",
    lost: "No answer",
    lostLine: (address: string, time: string | null) =>
      `The server at ${address} does not answer.${time === null ? "" : ` What you see is from ${time}.`}`,
    lostAct: "The server does not answer. This can be done again when it does.",
  },
  /** Where a browser gives a page neither hashes nor storage for reading without a server. */
  plainHttp:
    "This page came over plain HTTP. Everyone on the network between can read it, and hashes cannot be checked in it.",
  waiting: { still: "Still waiting for the server", label: "Loading" },
  failure: {
    again: "Try again",
    code: (code: string) => `Code ${code}. Copy it`,
    unreachable: "The server does not answer.",
    notAllowed: "This needs the owner's key.",
    unreachableFix: "Start it again in the terminal; this page goes on by itself.",
    broken: "This part of the page failed.",
    brokenFix: "Load the page again. Nothing was changed.",
  },
  key: {
    title: "Open the Studio",
    why: "This page needs a key. The link that the terminal printed opens one session, once.",
    ended: "This session has ended. What you typed is still here.",
    spent: "Press Enter in the terminal for a new link, or type the token that the server was started with.",
    token: "Token",
    mistakes: {
      empty: "Type the token first, or paste a link from the terminal.",
      shape: "A token has 16 to 512 letters, digits or signs, and no spaces. Check that all of it was pasted.",
    },
    open: "Open",
  },
  copy: { link: "Copy link", copied: "Copied", hash: (name: string) => `Copy ${name}` },
  files: countFiles,
  plusMinus,
  number: group,
  outcomes: {
    preparing: "preparing",
    working: "working",
    capturing: "capturing",
    judging: "judging",
    verifying: "verifying",
    landing: "landing",
    rejected: "rejected",
    verify_failed: "verify failed",
    agent_failed: "agent failed",
    timed_out: "timed out",
    over_limit: "over its limit",
    interrupted: "interrupted",
    verified: "verified",
    unverified: "not verified",
    unchanged: "unchanged",
    not_started: "not started",
    applied: "applied",
    undone: "undone",
    discarded: "discarded",
  } satisfies Record<Outcome, string>,
  verdicts: {
    verified: (f) =>
      `Ready to land: ${size(f)}. ${f.checks === 1 ? "Your check passes." : `Your ${group(f.checks)} checks pass.`}${f.untouched ? " Your files are untouched." : ""}`,
    unverified: (f) =>
      `Not verified: no command checked this change. ${size(f)}.${f.untouched ? " Your files are untouched." : ""}`,
    rejected: (f) => `Cannot land${because(f)}`,
    verify_failed: (f) => `Does not pass${because(f)}`,
    agent_failed: (f) => `The agent failed${because(f)}`,
    timed_out: (f) => `The agent took too long${because(f)}`,
    over_limit: (f) => `The run went over its limit${because(f)}`,
    interrupted: (f) => `The run was interrupted${because(f)}`,
    unchanged: () => "The agent changed nothing.",
    not_started: (f) => `The agent did not start${because(f)}`,
    applied: (f) =>
      `Landed${f.landed === null ? "" : ` at ${f.landed}`}: ${size(f)}. Undo is possible until one of its files changes.`,
    undone: () => "Undone. Your files are as they were before the change was applied.",
    discarded: () => "Discarded. Nothing of it can land; the record stays.",
    preparing: () => "The run is being prepared.",
    working: () => "The agent is at work. Nothing lands before you say so.",
    capturing: () => "The agent has ended. Its changes are being collected.",
    judging: () => "The change is being judged.",
    verifying: () => "The checks run on the change.",
    landing: () => "The change is being applied.",
  } satisfies Record<Outcome, (facts: VerdictFacts) => string>,
  /** What the gates found, where their own sentence speaks of a flag that somebody typed. */
  rules: {
    scope_deny: (path: string) => `it changes ${path}, which this run may not touch`,
    scope_allow: (path: string) => `it changes ${path}, which is outside of what this run may touch`,
    allow_roots: (path: string) => `it changes ${path}, which no agent may touch in this repository`,
  },
  alsoFound: (first: string, more: number) => (more === 0 ? first : `${first} (and ${group(more)} more)`),
  /** Why Apply is there and cannot be pressed. */
  cannotApply: {
    rejected: "It cannot be applied as long as the gates refuse it.",
    failed: "It can be applied once its checks pass.",
    unjudged: "It can be applied once it has been judged.",
  },
  acts: {
    apply: (files: number) => `Apply ${countFiles(files)}`,
    discard: "Discard this run",
    undo: "Undo",
    verify: "Verify again",
    judge: "Judge what it did",
    cancel: "Cancel",
    close: "Close",
    stop: "Stop waiting",
  },
  home: {
    title: "Home",
    needs: "Needs you",
    needsNothing: "Nothing waits for you.",
    all: (number: number) => `All ${group(number)}`,
    work: "At work",
    worlds: "Worlds",
    health: "Health",
    next: "Next",
    none: "No runs yet. Start an agent, or look at the sample.",
    startCommand: 'verbatim agent --goal "what it should do" --verify "your tests" -- YOUR AGENT',
    sampleCommand: "verbatim demo --studio",
    entries: (number: number) => count(number, "entry in the ledger", "entries in the ledger"),
    verifiedAt: "verified",
    problems: (number: number) => `${count(number, "problem", "problems")} found`,
    verifyNow: "Verify the ledger",
    verifying: "Verifying",
    found: "This repository has:",
    write: "In verbatim.config.json:",
    lines: "the lines",
    neverVerified: "not verified since the server was started",
    days: "Entries on each of the last 30 days",
    daysAgo: "Days ago",
    number: "Entries",
  },
  runs: {
    title: "Runs",
    none: "No agent has run in this repository.",
    noMatch: "No run matches.",
    clear: "Clear the filter",
    search: "Find in goals",
    long: (most: number) => `Type at most ${group(most)} characters to find in goals.`,
    outcome: "Outcome",
    since: "Since",
    sinceWords: { any: "Any time", day: "Today", week: "7 days", month: "30 days" },
    anyOutcome: "Any outcome",
    work: "At work",
  },
  run: {
    tabs: {
      review: "Review",
      live: "Live",
      output: "Output",
      proof: "Proof",
      verify: "Verify",
      timeline: "Timeline",
      files: "Record",
      report: "Report",
    },
    tabsLabel: "Parts of this run",
    unified: "Unified",
    split: "Split",
    view: "How the change is shown",
    tree: "Files of the change",
    nothing: "There is nothing to review.",
    nothingStays: "What the agent printed and the proof are still here.",
    operation: { create: "new", modify: "changed", delete: "deleted", mode: "mode" },
    kinds: { text: "text", binary: "binary", link: "link", mode: "mode" },
    binary: (bytes: string) => `Binary, ${bytes}. It lands whole or not at all.`,
    link: (target: string) => `Link to ${target}`,
    mode: (mode: string) => `Only its mode changes, to ${mode}`,
    hunk: (n: number, of: number) => `Hunk ${group(n)} of ${group(of)}`,
    unfold: (lines: number) => `Show ${count(lines, "more line", "more lines")}`,
    cut: (columns: number) => `show ${group(columns)} more`,
    atWork: (pid: number) => `At work in process ${pid}`,
    onlySpace: "Only whitespace changes",
    hideSpace: "Fold whitespace",
    failed: "What failed",
    large: (lines: number) => `${count(lines, "changed line", "changed lines")}. Show this file`,
    noEol: "no line end at the end of the file",
    added: (line: number, text: string) => `added, line ${group(line)}: ${text}`,
    removed: (line: number, text: string) => `removed, line ${group(line)}: ${text}`,
    same: (line: number, text: string) => `line ${group(line)}: ${text}`,
    viewed: "Viewed",
    loadingMore: "Loading the rest of the change",
    goal: "Goal",
    command: "Agent",
    evidence: "Evidence",
    bytes: "Show the bytes",
    noProof: "There is no proof yet: the agent has not ended.",
    noVerify: "No command checked this change.",
    exit: (code: number) => `ended with ${group(code)}`,
    took: (time: string) => `after ${time}`,
    output: {
      output: "What the agent printed",
      errors: "What the agent printed as errors",
      verify: "What the checks printed",
    },
    nothingPrinted: "Nothing was printed.",
    cutOutput: (shown: string, whole: string) => `Showing the last ${shown} of ${whole}.`,
    timeline: "What happened, in order",
    entry: (index: number) => `ledger entry ${group(index)}`,
    sentences: "What is known",
    findings: "What the gates found",
    noFindings: "The gates found nothing to refuse.",
    checks: "What was checked",
    readLast: "Read the last 20 lines",
    parts: {
      goal: "Goal",
      agent: "The agent",
      base: "Where it began",
      change: "The change",
      policy: "The policy",
      verify: "The checks",
      tree: "Your tree",
      network: "The network",
      shown: "What it was shown",
      kept: "What stayed writable",
      hooks: "Its hooks",
      end: "Where it stands",
    },
    what: {
      attempt: "Record of the attempt",
      output: "What the agent printed",
      errors: "What the agent printed as errors",
      candidate: "Record of the change",
      patch: "The change as a patch",
      carried: "Files that travel whole",
      gate: "Judgement of the gates",
      verification: "Record of the checks",
      verify_output: "What the checks printed",
      verify_errors: "What the checks printed as errors",
      tree_root_before: "Your tree before",
      tree_root_after: "Your tree after",
      guard: "Guard",
      launcher: "Launcher of the guard",
      proof: "Proof",
      context_pack: "Context pack that the agent was given",
      landing: "Record of the landing",
    },
    archive: "Download the record",
    prove: {
      act: "Verify now",
      running: "Verifying",
      accepted: "Accepted: the record was computed again and agrees with its proof.",
      refused: "Not accepted.",
      tree: {
        matches: "Your files of today are as the proof says.",
        drifted: "Your files have changed since, which the proof says nothing about.",
        skipped: "Your files of today were not compared with it.",
        unavailable: "Your files of today were not compared with it.",
      },
      signature: {
        absent: "Nobody signed it.",
        unpinned: "It is signed with a key that nothing here names.",
        pinned: "It is signed with a key that this repository names.",
        untrusted: "It is signed with a key that this repository does not name.",
        invalid: "Its signature is not valid.",
      },
    },
    sameHash: "Same hash, computed in this page",
    otherHash: (found: string) => `The bytes have another hash: ${found}`,
    noHash: "A hash can be computed only over TLS or on this machine.",
    recorded: (index: number) => `recorded in ledger entry ${group(index)}`,
    hideBytes: "Hide the bytes",
    cutBytes: (shown: string) => `The first ${shown}`,
    also: "It also fails without the change.",
    on: (what: string) => `Verified ${what}`,
    actor: (name: string) => `by ${name}`,
  },
  choice: {
    take: "Take this hunk",
    takeFile: (path: string) => `Take ${path}`,
    takeListed: (path: string) => `All of ${path}`,
    hint: "Take or leave this hunk or file",
    size: (files: number, added: number, deleted: number) => `${countFiles(files)}, ${plusMinus(added, deleted)}`,
    verify: (taken: number, of: number) => `Verify this choice (${group(taken)} of ${count(of, "part", "parts")})`,
    apply: "Apply this choice",
    all: "Take everything",
    nothing: "Nothing is chosen.",
    passed: (size: string) => `Your choice passes. ${size}.`,
    unverified: (size: string) => `No command checked your choice. ${size}.`,
    failed: (reason: string | null) => `Your choice does not pass${reason === null ? "." : `: ${reason}`}`,
    rejected: (reason: string | null) => `Your choice cannot land${reason === null ? "." : `: ${reason}`}`,
  },
  apply: {
    title: (files: number) => `Apply ${countFiles(files)}?`,
    consequence: (files: number) =>
      files === 1
        ? "1 file changes in your working tree. Nothing is committed."
        : `${group(files)} files change in your working tree. Nothing is committed.`,
    undo: "Undo stays possible until one of these files changes again.",
    moved: "Your tree has moved on since the agent began.",
    verifyAgain: "Verify on today's files and apply",
    plan: "What happens to each file",
    how: { as_is: "as verified", already: "already there", merged: "merged with your changes", conflict: "conflict" },
    left: "as the agent left it",
    conflict: "Some files cannot be merged. Nothing was applied.",
    others: (files: number) => `Apply the other ${countFiles(files)}`,
    applying: "Applying",
  },
  discard: {
    title: "Discard this run?",
    consequence: "Its change can never be applied. What was recorded stays in the ledger.",
  },
  undo: {
    title: "Undo this change?",
    consequence: (files: number) =>
      `${files === 1 ? "1 file goes" : `${group(files)} files go`} back to what they were before the change was applied. If one of them changed since, nothing is touched.`,
  },
  verify: {
    title: "Run the checks again?",
    consequence: "The commands of this run are run on its change, in isolation. Your files stay as they are.",
    running: "The checks run",
  },
  settings: {
    title: "Settings",
    tabs: {
      appearance: "Appearance",
      notices: "Notices",
      access: "Access",
      agents: "Agents",
      doctor: "Doctor",
      about: "About",
    },
    theme: "Theme",
    themes: { system: "As the system", light: "Light", dark: "Dark" },
    size: "Text size",
    density: "Rows",
    densities: { comfortable: "Comfortable", compact: "Compact" },
    motion: "Motion",
    motions: { system: "As the system", none: "None" },
    letters: "Single letters act as keys",
    sessions: "Sessions",
    thisSession: "this one",
    since: "Since",
    lastUse: "last used",
    end: "End",
    endThis: "End this session",
    device: "Another device",
    deviceWhy:
      "A link opens one session in another browser, once, within ten minutes. Whoever has it can do what you can.",
    makeLink: "Make a link",
    link: "the link",
    linkUntil: "Good once, until",
    loopback: "Only this machine reaches this address. Start the server with another host to open it elsewhere.",
    notices: "Notices of the browser",
    noticesWords: { off: "Off", on: "When a run needs you" },
    noticesWhy: "A notice names the goal of the run. It comes only while this page is not in front of you.",
    noticesDenied: "This browser does not allow notices from this page. Allow them in its settings for this address.",
    noticesAbsent: "This browser gives notices only to pages on this machine or over TLS.",
    doctorAgain: "Run again",
    version: "Version",
    api: "The HTTP API",
    routes: (number: number) => count(number, "route", "routes"),
    licences: "Licences of what is built in",
    licencesIn: "Licences of the packages that the Studio and the command line have built in",
    showLicences: "Show the licences",
    hideLicences: "Hide the licences",
    keys: "Keys",
    showKeys: "Show the keys",
  },
  palette: {
    title: "Go to or do",
    label: "Type where to go or what to do",
    none: "Nothing matches.",
    long: (most: number) => `Type at most ${group(most)} characters.`,
    acts: "On this screen",
    places: "Places",
    found: "Found",
    files: "In this change",
  },
  keys: {
    title: "Keys",
    off: "Single letters are switched off in Settings.",
    everywhere: "Everywhere",
    here: "On this screen",
    palette: "Find and do",
    go: "Go to a place",
    search: "Search of this screen",
    close: "Close, then leave the field",
    tab: "Previous or next tab",
    confirm: "Confirm the open dialog",
    link: "Copy the link of what is shown",
    list: "These keys",
    region: "Next region",
    nextHunk: "Next hunk",
    previousHunk: "Previous hunk",
    nextFile: "Next file",
    previousFile: "Previous file",
    viewed: "Mark the file as viewed",
    unifiedSplit: "Unified or split",
    apply: "Apply",
    discard: "Discard",
    proof: "Proof",
    nextRun: "Next run",
    previousRun: "Previous run",
    openRun: "Open the run",
    space: "Fold whitespace-only changes",
    start: "Start an agent",
    select: "Choose this run to compare",
    nextRow: "Next row",
    previousRow: "Previous row",
    openRow: "Open the row",
  },
  comments,
  compare,
  context,
  jobs,
  live,
  ledger,
  bundles,
  panel,
  record,
  roles,
  report,
  start,
  worlds,
  missing: { title: "There is nothing at this address", back: "Go to Home" },
  announced: {
    verdict: (sentence: string) => sentence,
    lost: "The connection to the server is lost.",
    back: "The server answers again.",
    linkCopied: "The link is copied.",
  },
  times: {
    now: "just now",
    minutes: (n: number) => `${group(n)} min ago`,
    hours: (n: number) => `${group(n)} h ago`,
    days: (n: number) => count(n, "day ago", "days ago"),
    ms: (n: number) => `${group(n)} ms`,
    seconds: (n: string) => `${n} s`,
    minutesSeconds: (minutes: number, seconds: number) =>
      seconds === 0 ? `${group(minutes)} min` : `${group(minutes)} min ${group(seconds)} s`,
  },
  bytes: {
    bytes: (n: number) => count(n, "byte", "bytes"),
    kilo: (n: string) => `${n} kB`,
    mega: (n: string) => `${n} MB`,
  },
} as const;
