/** What one file of a bundle is, learned in a single read that follows no link. */
export type FileFacts =
  | {
      readonly sha256: string;
      readonly bytes: number;
      readonly newline: boolean;
      readonly utf8: boolean;
      /** Said when a line near the beginning ends in CRLF. */
      readonly crlf?: true;
    }
  | { readonly problem: "missing" | "not-regular" | "unreadable" };

/** The bytes of the manifest, or why there are none. */
export type ManifestRead =
  | { readonly bytes: Uint8Array }
  | { readonly problem: "missing" | "not-regular" | "unreadable" | "too-large" };

/** A bundle to read: a folder on disk, files dropped on a page, or files in memory. Nothing is ever followed. */
export interface BundleFiles {
  readManifest(limit: number): Promise<ManifestRead>;
  /** Facts of the file at a clean relative path; a link on the way makes it not regular. */
  inspect(path: string): Promise<FileFacts>;
  /** Every file, link and folder below the bundle; the path of a folder ends in `/`. */
  list(): Promise<readonly string[]>;
  /** Text of the file at a clean relative path that `inspect` found good; FILE_UNREADABLE unless it is UTF-8. */
  readText(path: string): Promise<string>;
}
