import { isDeviceName } from "./run-id.ts";

/** The name of a repository inside the runs root. `sha256` hashes a UTF-8 text to hex. */
export function toRepoSlug(dirname: string, sha256: (text: string) => string): string {
  const name = dirname.normalize("NFC");
  const low = name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const base = low
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/-{2,}/g, "-")
    .replace(/^[-._]+|[-._]+$/g, "");
  if (base === low && base.length >= 1 && base.length <= 64 && !isDeviceName(base)) return base;
  const short = base.slice(0, 48).replace(/[-._]+$/, "");
  return `${short === "" ? "repo" : short}-${sha256(name.toWellFormed()).slice(0, 8)}`;
}
