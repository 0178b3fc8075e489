import type { Input, Output } from "../../../app/operations.ts";

export type Review = Output<"agent.review">;
export type ReviewFile = Review["files"][number];
export type ReviewHunk = ReviewFile["hunks"][number];

export type Decision = "take" | "leave";

/** What is decided at once: a whole file, a hunk, or a part of one. */
export interface Unit {
  /** Places in the review; without a hunk it is the whole file. */
  readonly file: number;
  readonly hunk: number | null;
  /** `all`, `3` or `3.1`. */
  readonly name: string;
}

type Pick = NonNullable<Input<"agent.select">["picks"]>[number];

/** Files that appear twice under one path, as a deletion and an addition, are one. */
interface Named {
  readonly path: string;
  readonly places: readonly number[];
}

/** Where somebody is in a review, and what they have decided. Nothing here draws or asks. */
export class ReviewState {
  readonly review: Review;
  readonly #files: readonly Named[];
  readonly #split = new Set<string>();
  readonly #decided = new Map<string, Decision>();
  #units: readonly Unit[] = [];
  #at = 0;

  constructor(review: Review) {
    this.review = review;
    const byPath = new Map<string, number[]>();
    for (const [i, { path }] of review.files.entries()) byPath.set(path, [...(byPath.get(path) ?? []), i]);
    this.#files = [...byPath].map(([path, places]) => ({ path, places }));
    this.#recall();
    this.#list();
    this.#at = Math.max(
      0,
      this.#units.findIndex((unit) => this.decision(unit) === null),
    );
  }

  get units(): readonly Unit[] {
    return this.#units;
  }

  get at(): number {
    return this.#at;
  }

  get current(): Unit {
    return this.#units[this.#at]!;
  }

  get files(): number {
    return this.#files.length;
  }

  file(unit: Unit): ReviewFile {
    return this.review.files[unit.file]!;
  }

  /** The number of the file of a unit, from 1. */
  fileNumber(unit: Unit): number {
    return this.#files.findIndex(({ places }) => places.includes(unit.file)) + 1;
  }

  hunk(unit: Unit): ReviewHunk | null {
    return unit.hunk === null ? null : this.file(unit).hunks[unit.hunk]!;
  }

  decision(unit: Unit): Decision | null {
    return this.#decided.get(this.#key(unit)) ?? null;
  }

  decide(decision: Decision, units: readonly Unit[] = [this.current]): void {
    for (const unit of units) this.#decided.set(this.#key(unit), decision);
  }

  /** Goes to the next unit that is not decided; false: everything is. */
  advance(): boolean {
    const next = this.#units.findIndex((unit, i) => i > this.#at && this.decision(unit) === null);
    const any = next === -1 ? this.#units.findIndex((unit) => this.decision(unit) === null) : next;
    if (any === -1) return false;
    this.#at = any;
    return true;
  }

  move(by: number): boolean {
    const to = Math.min(this.#units.length - 1, Math.max(0, this.#at + by));
    const isMoved = to !== this.#at;
    this.#at = to;
    return isMoved;
  }

  /** The units of the current file: all of them, or those from here on. */
  ofFile(fromHere: boolean): Unit[] {
    const n = this.fileNumber(this.current);
    return this.#units.filter((unit, i) => this.fileNumber(unit) === n && (!fromHere || i >= this.#at));
  }

  /** Splits the current hunk at its unchanged lines, or joins its parts again; false: there is nothing to split. */
  split(): boolean {
    const { file, hunk } = this.current;
    const parts = this.hunk(this.current)?.parts ?? [];
    if (hunk === null || parts.length < 2) return false;
    const key = `${file}:${this.hunk(this.current)!.n}`;
    const names = parts.map(({ n }) => `${file}:${n}`);
    if (this.#split.delete(key)) {
      // Parts that were decided differently have no decision in common.
      const all = new Set(names.map((name) => this.#decided.get(name)));
      const [one] = all;
      this.#set(key, all.size === 1 ? one : undefined);
      for (const name of names) this.#decided.delete(name);
    } else {
      this.#split.add(key);
      for (const name of names) this.#set(name, this.#decided.get(key));
      this.#decided.delete(key);
    }
    this.#list();
    this.#at = this.#units.findIndex((unit) => unit.file === file && unit.hunk === hunk);
    return true;
  }

  /** Goes to the next place with these words, in a path or a line, around the end; false: there is none. */
  search(words: string): boolean {
    const isExact = /\p{Lu}/u.test(words);
    const fold = (text: string) => (isExact ? text : text.toLowerCase());
    const has = (unit: Unit) =>
      fold(this.file(unit).path).includes(fold(words)) ||
      (this.hunk(unit)?.lines ?? []).some(({ text }) => fold(text).includes(fold(words)));
    for (let i = 1; i <= this.#units.length; i++) {
      const at = (this.#at + i) % this.#units.length;
      if (!has(this.#units[at]!)) continue;
      this.#at = at;
      return true;
    }
    return false;
  }

  count(decision: Decision | null): number {
    return this.#units.filter((unit) => this.decision(unit) === decision).length;
  }

  /** What is taken, as `agent.select` takes it. */
  picks(): Pick[] {
    return this.#files.flatMap(({ path, places }): Pick[] => {
      const own = this.#units.filter(({ file }) => places.includes(file));
      const taken = own.filter((unit) => this.decision(unit) === "take");
      if (taken.length === 0) return [];
      if (taken.length === own.length) return [{ path, hunks: "all" }];
      return [{ path, hunks: taken.map(({ name }) => (name.includes(".") ? name : Number(name))) }];
    });
  }

  get isWhole(): boolean {
    return this.#units.every((unit) => this.decision(unit) === "take");
  }

  /** Lines and files of what is taken. */
  size(): { readonly files: number; readonly added: number; readonly deleted: number } {
    const taken = this.#units.filter((unit) => this.decision(unit) === "take");
    const [added, deleted] = (["added", "deleted"] as const).map((side) =>
      taken.reduce((sum, unit) => sum + this.#extent(unit)[side], 0),
    );
    return { files: new Set(taken.map((unit) => this.fileNumber(unit))).size, added: added!, deleted: deleted! };
  }

  /** What is decided, as it is kept for the next time. */
  decided(): Review["decided"] {
    return this.#files.flatMap(({ path, places }) => {
      const of = (decision: Decision) =>
        this.#units
          .filter((unit) => places.includes(unit.file) && this.decision(unit) === decision)
          .map(({ name }) => name);
      const [take, leave] = [of("take"), of("leave")];
      return take.length + leave.length === 0 ? [] : [{ path, take, leave }];
    });
  }

  #extent(unit: Unit): { readonly added: number; readonly deleted: number } {
    const hunk = this.hunk(unit);
    return hunk?.parts?.find(({ n }) => n === unit.name) ?? hunk ?? this.file(unit);
  }

  #key({ file, name }: Unit): string {
    return `${file}:${name}`;
  }

  #set(key: string, decision: Decision | undefined): void {
    if (decision !== undefined) this.#decided.set(key, decision);
  }

  #list(): void {
    const { files } = this.review;
    this.#units = this.#files.flatMap(({ places }) => {
      const [first] = places;
      const hunks = places.length > 1 ? [] : files[first!]!.hunks;
      if (hunks.length === 0) return [{ file: first!, hunk: null, name: "all" }];
      return hunks.flatMap(({ n, parts = [] }, hunk): Unit[] =>
        this.#split.has(`${first}:${n}`)
          ? parts.map((part) => ({ file: first!, hunk, name: part.n }))
          : [{ file: first!, hunk, name: String(n) }],
      );
    });
  }

  #recall(): void {
    for (const { path, take, leave } of this.review.decided) {
      const file = this.#files.find((one) => one.path === path)?.places[0];
      if (file === undefined) continue;
      for (const [decision, names] of [
        ["take", take],
        ["leave", leave],
      ] as const) {
        for (const name of names) {
          this.#decided.set(`${file}:${name}`, decision);
          if (name.includes(".")) this.#split.add(`${file}:${name.split(".")[0]}`);
        }
      }
    }
  }
}
