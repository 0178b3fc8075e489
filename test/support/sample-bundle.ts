import { readFileSync } from "node:fs";

interface Vector {
  readonly id: string;
  readonly expected: { readonly bundle?: { readonly files: Readonly<Record<string, string>> } };
}

let sample: ReadonlyMap<string, Uint8Array> | undefined;

// Read when it is wanted: whoever imports this for something else may be bundled away from the vectors.
function readSample(): ReadonlyMap<string, Uint8Array> {
  const vectors = JSON.parse(
    readFileSync(new URL("../vectors/bundle.json", import.meta.url), "utf8"),
  ) as readonly Vector[];
  const files = vectors.find(({ id }) => id === "bd-jobs-job-002")?.expected.bundle?.files;
  if (files === undefined) throw new Error("the sample vector is gone");
  return new Map(Object.entries(files).map(([path, text]) => [path, new TextEncoder().encode(text)]));
}

/** A whole bundle with three steps and three artifacts, as a published vector has it: path to bytes. */
export function sampleBundle(): Map<string, Uint8Array> {
  sample ??= readSample();
  return new Map(sample);
}
