import type { Output } from "../operations.ts";

/** A session of a server as its owner sees it. */
export interface OpenSession {
  readonly id: string;
  readonly label: string;
  readonly role: "owner" | "reviewer" | "reader" | "operator" | "player" | "viewer";
  readonly world_id: string | null;
  readonly opened_by: "link" | "token";
  readonly since: string;
  readonly last_use: string;
}

/** What a look at the ledger, or at this machine, found the last time while this workspace was open. */
export interface Remembered<T> {
  readonly at: string;
  readonly found: T;
}

/** What the operations of the Studio run on: other operations, as the owner would call them. */
export interface StudioPorts {
  /** The sessions of the server that asks. */
  readonly sessions: () => readonly OpenSession[];
  runs(input: { readonly limit: number }): Promise<Output<"agent.list">>;
  /** For each group of places the oldest runs that stand in one of them, and how many do. */
  oldestRuns(
    groups: readonly (readonly Output<"agent.list">["runs"][number]["outcome"][])[],
    limit: number,
  ): Promise<Pick<Output<"agent.list">, "runs" | "total">[]>;
  worlds(): Promise<Output<"world.list">["worlds"]>;
  /** The newest line of a world that its operator sees, and when it was written; null: there is none. */
  lastLine(
    world: string,
  ): Promise<{ readonly author: string | null; readonly text: string; readonly at: string } | null>;
  ledgerSize(): Promise<number>;
  /** Does work that asks when entries were written, by their index, in one look at the ledger. */
  withTimes<T>(work: (timeOf: (index: number) => Promise<number>) => Promise<T>): Promise<T>;
  now(): number;
  /** Index of the entry of a hash, or null. */
  entryOf(hash: string): Promise<number | null>;
  verified(): Remembered<Output<"ledger.verify">> | null;
  diagnosed(): Remembered<Output<"hall.doctor">> | null;
  /** Whether agents can work here: a repository, and commands that verify what they do. */
  readiness(): { readonly hasGit: boolean; readonly verify: number; readonly found: string | null };
}
