/** What was read of a file: ill-formed UTF-8 becomes U+FFFD, nothing else changes; `bytes` is what the text costs. */
export interface FileText {
  readonly text: string;
  readonly bytes: number;
  /** Whether the text is the whole file. */
  readonly complete: boolean;
}

/** What is at a path of the repository. Links are followed; what they lead to is named by its real path. */
export type FoundFile =
  | { readonly state: "missing" | "unreadable" | "outside" }
  | {
      readonly state: "found";
      /** Real path relative to the repository's real root. */
      readonly real: string;
      readonly regular: boolean;
      readonly size: number;
      /** At most `most` bytes (null: all), opened without following links and without blocking. */
      read(most: number | null): FileText | "missing" | "unreadable";
    };

/** Looks at single files of a repository's working tree, never at a folder. Synchronous: the librarian reads thousands. */
export interface RepoReader {
  look(path: string): FoundFile;
  /**
   * The text of a small regular file that no link leads to, in as few calls as reading it takes; null where `look` has
   * to say what is there. At most `most` bytes are read.
   */
  readPlain(path: string, most: number): FileText | null;
}
