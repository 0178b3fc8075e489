import { encodeUtf8 } from "../../../core/canonical/index.ts";
import { BUNDLE_FILE, formatPlaceholder, layOutBundle } from "../artifacts/bundle-layout.ts";
import type { Run } from "./run.ts";

const LARGEST_LOG = 16 * 1024 * 1024;
const KEPT = 1024 * 1024;

/** Builds failure_bundle.zip (Artifact Contracts M) from scratch: the same run directory gives the same bytes. */
export function buildBundle(run: Run): { readonly sha256: string; readonly size: number } {
  const { entries, placeholders } = layOutBundle(run.folder.list());
  const bytes = run.ports.zipper.pack(
    entries.map((name) => {
      if (name.endsWith("/")) return { name, bytes: null };
      if (placeholders.includes(name)) return { name, bytes: encodeUtf8(formatPlaceholder(name)) };
      return { name, bytes: shorten(name, run.read(name) ?? new Uint8Array()) };
    }),
  );
  run.folder.write(BUNDLE_FILE, bytes);
  return { sha256: run.ports.crypto.sha256(bytes), size: bytes.length };
}

/** A very large log is kept as its beginning and its end. */
function shorten(name: string, bytes: Uint8Array): Uint8Array {
  if (!name.startsWith("logs/") || bytes.length <= LARGEST_LOG) return bytes;
  const marker = encodeUtf8(`\n... ${bytes.length - 2 * KEPT} bytes left out of this bundle ...\n`);
  const short = new Uint8Array(2 * KEPT + marker.length);
  short.set(bytes.subarray(0, KEPT));
  short.set(marker, KEPT);
  short.set(bytes.subarray(bytes.length - KEPT), KEPT + marker.length);
  return short;
}
