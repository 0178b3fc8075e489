import { count } from "../../../app/agent/report/explain-words.ts";
import type { App } from "../../../app/call.ts";
import type { Output } from "../../../app/operations.ts";
import { isVerbatimError, VerbatimError } from "../../../core/errors/index.ts";
import { showLine } from "../../../core/text/index.ts";
import { formatError } from "../error-text.ts";
import type { Io } from "../io.ts";
import type { Key } from "../keys.ts";
import type { Piece, Row, Screen } from "../screen.ts";
import { noteRows } from "./hunk-rows.ts";
import { boxHidden, wrapPieces } from "./line-pieces.ts";
import { helpRows, reviewRows } from "./review-rows.ts";
import { type Review, ReviewState } from "./review-state.ts";

type Selection = Output<"agent.select">;
type Applied = Output<"agent.apply">;

/** What became of a review: a change that was applied, or null where it was left for later. */
export type Reviewed = Applied | null;

const MOST_MESSAGE = 12;

/** Lets somebody read a change hunk by hunk, verify what they take, and apply exactly that. */
export async function reviewChange(review: Review, io: Io, app: App): Promise<Reviewed> {
  const dialogue = new ReviewDialogue(review, io, app, await io.openScreen());
  try {
    return await dialogue.run();
  } finally {
    await dialogue.close();
  }
}

class ReviewDialogue {
  readonly #state: ReviewState;
  readonly #review: Review;
  readonly #io: Io;
  readonly #app: App;
  readonly #screen: Screen;
  #from = 0;
  #lines = 0;
  #room = 1;
  #message: readonly Row[] = [];
  #words = "";
  /** What was tried last, and the choice that it speaks of. */
  #tried: { readonly choice: string; readonly result: Selection } | null = null;
  #saved: string;

  constructor(review: Review, io: Io, app: App, screen: Screen) {
    this.#review = review;
    this.#state = new ReviewState(review);
    this.#io = io;
    this.#app = app;
    this.#screen = screen;
    this.#saved = JSON.stringify(this.#state.decided());
  }

  async run(): Promise<Reviewed> {
    if (this.#state.units.every((unit) => this.#state.decision(unit) !== null))
      this.#say("everything is decided: v verify, w apply");
    for (;;) {
      this.#draw();
      const key = await this.#key();
      if (key.name === "resize") continue;
      this.#message = [];
      const end = await this.#press(key);
      if (end !== undefined) return end;
    }
  }

  /** Whoever ends it with Ctrl-C finds what they decided the next time. */
  async #key(): Promise<Key> {
    try {
      return await this.#screen.key();
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      throw new VerbatimError("INTERRUPTED", {
        message: `${thrown.message}; what you decided is kept`,
        fix: `Go on: verbatim agent review ${this.#review.run_id}`,
        exit: thrown.exit,
      });
    }
  }

  async close(): Promise<void> {
    this.#screen.close();
    await this.#keep();
  }

  /** Undefined: it goes on. */
  async #press({ name }: Key): Promise<Reviewed | undefined> {
    const state = this.#state;
    switch (name) {
      case "y":
      case "n":
        state.decide(name === "y" ? "take" : "leave");
        return this.#next();
      case "a":
        state.decide("take", state.ofFile(true));
        return this.#next();
      case "d":
        state.decide("leave", state.ofFile(false));
        return this.#next();
      case "s":
        if (state.split()) this.#from = 0;
        else this.#say("no unchanged line is between its changes: it cannot be split");
        return;
      case "j":
      case "right":
        return this.#move(1);
      case "k":
      case "left":
        return this.#move(-1);
      case "home":
      case "g":
        return this.#move(-state.units.length);
      case "end":
      case "G":
        return this.#move(state.units.length);
      case "down":
        return this.#scroll(1);
      case "up":
        return this.#scroll(-1);
      case "space":
      case "page down":
        return this.#scroll(Math.max(1, this.#room - 1));
      case "page up":
        return this.#scroll(-Math.max(1, this.#room - 1));
      case "/":
        return await this.#search();
      case "v":
        await this.#verify();
        return;
      case "w":
        return await this.#apply();
      case "q":
      case "ctrl-d":
        return null;
      case "?":
      case "h":
        this.#message = helpRows();
        return;
      default:
        this.#say("? shows the keys");
        return;
    }
  }

  #next(): undefined {
    this.#from = 0;
    if (!this.#state.advance()) this.#say("everything is decided: v verify, w apply");
  }

  #move(by: number): undefined {
    if (this.#state.move(by)) this.#from = 0;
    else this.#say(by > 0 ? "this is the last one" : "this is the first one");
  }

  #scroll(by: number): undefined {
    const last = Math.max(0, this.#lines - this.#room);
    const to = Math.min(last, Math.max(0, this.#from + by));
    if (to !== this.#from) this.#from = to;
    else this.#move(Math.sign(by));
  }

  #say(text: string): void {
    this.#message = wrapPieces([{ text, style: "bold" }], this.#screen.size().columns);
  }

  #draw(): void {
    const size = this.#screen.size();
    const around = { verdict: this.#verdict(), message: this.#message.slice(0, size.rows - 4), from: this.#from };
    const { rows, lines, room } = reviewRows(this.#state, size, around);
    this.#lines = lines;
    this.#room = room;
    this.#from = Math.min(this.#from, Math.max(0, lines - room));
    this.#screen.draw(rows);
  }

  /** What is known of exactly this choice. */
  #verdict(): Piece {
    const { verified_by, outcome } = this.#review;
    const found = this.#found();
    if (found !== null) {
      if (found.result === "passed") return { text: "✓ verified as chosen", style: "good" };
      if (found.result === "unverified") return { text: "- not verified: the run has no command", style: "warn" };
      return { text: found.result === "rejected" ? "✗ rejected" : "✗ does not pass", style: "bad" };
    }
    if (this.#state.count("take") === 0) return { text: "" };
    if (this.#state.isWhole && outcome === "verified") return { text: "✓ verified as a whole", style: "good" };
    return { text: verified_by.length === 0 ? "- nothing verifies it" : "! not verified", style: "warn" };
  }

  #found(): Selection | null {
    return this.#tried?.choice === this.#choice() ? this.#tried.result : null;
  }

  #choice(): string {
    return JSON.stringify(this.#state.picks());
  }

  async #search(): Promise<undefined> {
    let typed = "";
    for (;;) {
      this.#message = [[{ text: "/", style: "key" }, ...boxHidden(typed, "plain"), { text: " ", style: "box" }]];
      this.#draw();
      const { name } = await this.#key();
      if (name === "escape") break;
      if (name === "enter") {
        if (typed !== "") this.#words = typed;
        if (this.#words === "") break;
        const isFound = this.#state.search(this.#words);
        this.#from = 0;
        if (isFound) break;
        this.#message = wrapPieces(
          boxHidden(`nothing has "${this.#words}" in it`, "bold"),
          this.#screen.size().columns,
        );
        return;
      }
      if (name === "backspace") typed = [...typed].slice(0, -1).join("");
      else if (name === "space") typed += " ";
      else if ([...name].length === 1) typed += name;
    }
    this.#message = [];
  }

  /** Asks with one key; anything but the keys is no. */
  async #ask(says: readonly Row[], question: string, keys: readonly string[]): Promise<string> {
    const { columns } = this.#screen.size();
    this.#message = [...says, ...wrapPieces([{ text: question, style: "bold" }], columns)];
    // An answer that was typed before the question answers nothing.
    this.#screen.forget();
    for (;;) {
      this.#draw();
      const { name } = await this.#key();
      if (name === "resize") continue;
      this.#message = [];
      return keys.includes(name) ? name : "";
    }
  }

  /** Verifies exactly what is taken; the result is shown. Null: it could not be tried at all. */
  async #verify(): Promise<Selection | null> {
    const state = this.#state;
    if (state.count("take") === 0) {
      this.#say("nothing is taken yet: y takes this hunk");
      return null;
    }
    const { run_id: run, candidate } = this.#review;
    const choice = this.#choice();
    const result = await this.#away(`verifying ${describeTaken(state)}`, () =>
      this.#app.call("agent.select", { run, candidate, picks: state.picks() }),
    );
    if (result === null) return null;
    this.#tried = { choice, result };
    this.#message = this.#describe(result);
    return result;
  }

  async #apply(): Promise<Reviewed | undefined> {
    const state = this.#state;
    if (state.count("take") === 0) return this.#sayNothing();
    const { run_id: run, verified_by } = this.#review;
    let found = this.#found();
    if (found === null) {
      const open = state.count(null);
      const says = open === 0 ? "" : `${count(open, "hunk")} not decided, not taken. `;
      const what = verified_by.length === 0 ? "no command verifies this run" : "this choice is not verified";
      const question =
        verified_by.length === 0
          ? `${says}${what}.   y judge it   [Enter] not now`
          : `${says}${what}.   y verify it now   [Enter] not now`;
      if ((await this.#ask([], question, ["y"])) !== "y") return;
      found = await this.#verify();
      if (found === null) return;
    }
    const shown = this.#describe(found);
    if (found.result === "failed" || found.result === "rejected") {
      this.#message = [...shown, [{ text: "nothing was applied", style: "bold" }]];
      return;
    }
    const notices = this.#notices();
    const question = `apply ${describeTaken(state)} to your tree?   y yes   [Enter] no`;
    if ((await this.#ask([...shown, ...notices].slice(0, MOST_MESSAGE), question, ["y"])) !== "y") {
      this.#say("nothing was applied");
      return;
    }
    const { candidate } = found;
    const applied = await this.#away(`applying ${describeTaken(state)}`, () =>
      this.#app.call("agent.apply", { run, candidate }),
    );
    return applied ?? undefined;
  }

  #sayNothing(): undefined {
    this.#say("nothing is taken yet: y takes this hunk");
  }

  /** What somebody should have seen of the files they take. */
  #notices(): Row[] {
    const { columns } = this.#screen.size();
    const taken = new Set(this.#state.picks().map(({ path }) => path));
    const files = this.#review.files.filter(({ path, findings }) => taken.has(path) && findings.length > 0);
    return files.flatMap(({ path, findings }) =>
      [...new Set(findings.map(({ says }) => says))].flatMap((says) => noteRows(`${path} ${says}`, columns)),
    );
  }

  /** Does something that prints on the terminal itself. Null: it was refused, and the screen says why. */
  async #away<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    await this.#keep();
    try {
      return await this.#screen.leave(async () => {
        this.#io.note(`${what} ...`);
        return await work();
      });
    } catch (thrown) {
      if (!isVerbatimError(thrown) || thrown.code === "INTERRUPTED" || thrown.exit === 3) throw thrown;
      const lines = formatError(thrown, PLAIN);
      const { columns } = this.#screen.size();
      this.#message = lines.flatMap((line) => wrapPieces(boxHidden(line, "bad"), columns)).slice(0, MOST_MESSAGE);
      return null;
    }
  }

  #describe({ result, reason, known, verify, gate }: Selection): Row[] {
    const { columns } = this.#screen.size();
    const rows: Row[] = [];
    const add = (mark: string, style: Piece["style"], says: string) => {
      const [first = [], ...rest] = wrapPieces(boxHidden(says, "plain"), columns - 2);
      rows.push([{ text: `${mark} `, ...(style === undefined ? {} : { style }) }, ...first]);
      for (const row of rest) rows.push([{ text: "  " }, ...row]);
    };
    if (result === "passed")
      add("✓", "good", `${describeTaken(this.#state)}: verified by itself${known ? ", before" : ""}`);
    else if (result === "unverified") add("-", "warn", `not verified: ${reason ?? "the run has no command"}`);
    else add("✗", "bad", `${result === "rejected" ? "rejected" : "does not pass"}: ${reason ?? "no reason was given"}`);
    for (const { path, says, flag } of gate?.findings ?? []) {
      add("✗", "bad", `${path ?? ""} ${says}${flag === null ? "" : `. Allow it: ${flag}`}`);
    }
    for (const { cmd, exit_code } of verify?.commands ?? []) {
      add(
        exit_code === 0 ? "✓" : "✗",
        exit_code === 0 ? "good" : "bad",
        exit_code === 0 ? cmd : `${cmd}   exit ${exit_code}`,
      );
    }
    for (const { message } of result === "failed" ? (verify?.failures ?? []) : []) add(" ", "plain", message);
    return rows.slice(0, MOST_MESSAGE);
  }

  /** Keeps what is decided, where it is another than what is kept. */
  async #keep(): Promise<void> {
    const files = this.#state.decided();
    const now = JSON.stringify(files);
    if (now === this.#saved) return;
    const { run_id: run, candidate } = this.#review;
    await this.#app.call("agent.review-keep", { run, candidate, files });
    this.#saved = now;
  }
}

const asIs = (text: string) => text;
/** A screen paints by itself. */
const PLAIN = { bold: asIs, dim: asIs, good: asIs, bad: asIs, warn: asIs };

function describeTaken(state: ReviewState): string {
  const { files, added, deleted } = state.size();
  return `${count(state.count("take"), "hunk")} in ${count(files, "file")}, +${added} -${deleted}`;
}

/** Where there is nobody to ask: what can be typed instead. */
export function needsTerminal(run: string): VerbatimError {
  return new VerbatimError("USAGE", {
    message: "review is a dialogue and needs a terminal",
    fix: `Without one: verbatim agent apply ${showLine(run)} --only PATH:1,3-4 (the numbers: verbatim agent show ${showLine(run)} --hunks)`,
  });
}
