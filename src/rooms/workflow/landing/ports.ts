import type { BaseTree } from "../patch/ports.ts";

/** What is at a path of the working tree. Links are never followed, neither at the end nor on the way. */
export type TreeEntry =
  /** `blocked`: a link or a file stands where a folder of the path should be. */
  | { readonly kind: "missing" | "folder" | "special" | "blocked" }
  | {
      readonly kind: "file";
      readonly mode: "100644" | "100755";
      /** Permission bits, which git does not keep and a restored file must have again. */
      readonly permissions: number;
      readonly bytes: Uint8Array;
      /** Changes whenever the file is written, replaced or moved. */
      readonly stamp: string;
    }
  | { readonly kind: "link"; readonly mode: "120000"; readonly bytes: Uint8Array; readonly stamp: string };

/** A file or a link that is to be put somewhere; the bytes of a link are its target. */
export interface FileToPut {
  readonly mode: "100644" | "100755" | "120000";
  readonly bytes: Uint8Array;
  /** Those of the file it takes the place of; null: what the system gives a new file. */
  readonly permissions: number | null;
}

/** The working tree as landing writes it: each file whole or not at all, and only where no link leads. */
export interface LandingFiles {
  look(path: string): TreeEntry;
  /** Names in a folder; the root is the empty text. None where it is not a folder. */
  names(folder: string): readonly string[];
  /** Everything below a folder. */
  below(folder: string): { readonly files: readonly string[]; readonly folders: readonly string[] };
  /** Permission bits of a real folder, or null. */
  folderPermissions(path: string): number | null;
  makeFolder(path: string, permissions: number | null): void;
  /** Removes a folder if nothing is in it. */
  removeFolder(path: string): void;
  /** Writes a file durably under another name in the folder where it belongs. */
  stage(path: string, temporary: string, file: FileToPut): void;
  /**
   * Gives a staged file its name, if what is there still has the stamp; null: if nothing is there. False, and nothing
   * done, when someone else was there meanwhile.
   */
  place(path: string, temporary: string, stamp: string | null): boolean;
  /** Takes away what is at a path, if it still has the stamp. */
  drop(path: string, stamp: string): boolean;
  /** Removes a staged file that never got its name. */
  discard(path: string, temporary: string): void;
  /** Makes the names in folders durable. */
  sync(folders: readonly string[]): void;
}

/** Lines from the first to the last, from 1. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

/** Merges texts that two sides changed. Line numbers of a merge are those of the result, of a conflict those of `now`. */
export interface TextMerge {
  merge(
    now: Uint8Array,
    base: Uint8Array,
    candidate: Uint8Array,
  ): Promise<
    | {
        readonly state: "merged";
        readonly bytes: Uint8Array;
        readonly yours: readonly LineRange[];
        readonly agent: readonly LineRange[];
      }
    | {
        readonly state: "conflict";
        readonly ranges: readonly LineRange[];
        /** Both versions between markers; null: git calls one of them binary, or no marker can be told from their lines. */
        readonly marked: Uint8Array | null;
      }
  >;
}

/** Files and links of a tree. */
export interface TreeFiles {
  /** Those of some paths that are there; bytes are read one file at a time. */
  find(
    base: BaseTree,
    paths: readonly string[],
  ): Promise<ReadonlyMap<string, { readonly mode: "100644" | "100755" | "120000"; read(): Promise<Uint8Array> }>>;
}
