import type { FolderEntry } from "../ports.ts";
import type { FileKind } from "./report.ts";

/** A file of a profile and what it is by its place. */
export interface ProfileFile {
  /** As the source names it. */
  readonly path: string;
  /** Below the folder of the user. */
  readonly name: string;
  readonly bytes: number;
  readonly kind: FileKind;
}

const PLACES: readonly (readonly [RegExp, FileKind])[] = [
  // Never opened, wherever it lies.
  [/(?:^|\/)secrets\.json$/i, "secrets"],
  [/^characters\/[^/]+\.(?:png|json|charx)$/i, "character"],
  [/^chats\/.+\.jsonl$/i, "chat"],
  [/^group chats\/.+\.jsonl$/i, "group-chat"],
  [/^groups\/[^/]+\.json$/i, "group"],
  [/^worlds\/[^/]+\.json$/i, "lore"],
  [/^User Avatars\/[^/]+$/i, "picture"],
  [/^settings\.json$/i, "settings"],
  [/^(?:OpenAI|TextGen) Settings\/[^/]+\.(?:json|settings)$/i, "preset"],
];

/** What a file of a profile is. */
export function classify({ path, kind, bytes }: FolderEntry, root: string): ProfileFile {
  const name = path.slice(root.length);
  if (kind === "link") return { path, name, bytes, kind: "link" };
  const found = path.startsWith(root) ? PLACES.find(([place]) => place.test(name)) : undefined;
  return { path, name, bytes, kind: kind === "other" || found === undefined ? "other" : found[1] };
}

/** Whether a file of the folders that are read is kept although nothing becomes of it. */
export function isKeptFolder(name: string): boolean {
  return /^(?:characters|chats|group chats|groups|worlds|User Avatars)\//i.test(name);
}

/** The last part of a path, without its ending. */
export function stemOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
}
