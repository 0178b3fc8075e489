import { z } from "zod";
import { VerbatimError } from "../../../core/errors/index.ts";
import { defineOperation, LOCAL_SURFACES } from "../../../core/operation.ts";
import type { BundleSink } from "../bundle/bundle-artifacts.ts";
import { type BundleBuildPorts, toBuiltEntry, writeBundle } from "../bundle/bundle-build.ts";
import type { BundleFiles } from "../bundle/bundle-files.ts";
import { verifyBundle } from "../bundle/bundle-verify.ts";
import { attest, type BundlePorts } from "./bundles.ts";

/** What building a bundle needs besides what reading one does. */
export interface BundleMakerPorts extends BundleBuildPorts, Pick<BundlePorts, "crypto" | "files" | "loadKey"> {
  readonly actor: string;
  /** Fills a new folder and puts it at the path when that is done; `bundle` reads what was filled in. */
  createFolder<T>(path: string, fill: (sink: BundleSink, bundle: BundleFiles) => Promise<T>): Promise<T>;
  exists(path: string): boolean;
}

export const bundleBuild = defineOperation({
  name: "jobs.bundle-build",
  summary: "Builds the portable bundle of a finished job and verifies it before it appears.",
  effect: "mutate",
  surfaces: LOCAL_SURFACES,
  input: z.strictObject({
    job_id: z.string().describe("Id of the job."),
    out: z.string().describe("Folder to create; it must be empty if it exists."),
    reads_only: z.boolean().default(false).describe("Leave out WRITE and EXECUTE steps, keeping a reference to each."),
    with_receipts: z.boolean().default(false).describe("Include the hash of every receipt."),
    sign: z.string().optional().describe("Key to sign with: a name, or the path of a key file."),
  }),
  output: z.strictObject({
    path: z.string(),
    bundle_id: z.string(),
    root_hash: z.string(),
    job_id: z.string(),
    artifacts: z.int(),
    bytes: z.int(),
    attestation: z.string().nullable(),
  }),
  async run(ports: BundleMakerPorts, input) {
    const key = input.sign === undefined ? null : await ports.loadKey(input.sign);
    const path = input.out.replace(/\/+$/, "");
    const file = `${path}.dsse.json`;
    // Beside the bundle, never inside it: a folder without a name of its own has no place next to it to speak of.
    if (key !== null && /(?:^|\/)(?:\.{1,2})?$/.test(path)) {
      throw new VerbatimError("USAGE", { message: "to sign a bundle, name its folder", where: input.out });
    }
    if (key !== null && ports.exists(file)) throw new VerbatimError("FILE_EXISTS", { where: file });
    const { reads_only, with_receipts } = input;
    const options = { reads_only, with_receipts, signer: key?.key_id ?? null };
    const built = await ports.createFolder(path, async (sink, bundle) => {
      const made = await writeBundle(ports, input.job_id, options, sink);
      const report = await verifyBundle(ports.crypto, bundle, { mode: "strict" });
      if (!report.ok) {
        const codes = report.problems.map(({ code }) => code).join(", ");
        throw new VerbatimError("INTERNAL", { message: `the bundle was built but does not verify: ${codes}` });
      }
      return made;
    });
    if (key !== null) await attest(ports, file, key, built.manifest);
    await ports.store.transact(({ ledger }) =>
      ledger.append(`job/${input.job_id}`, "next", [toBuiltEntry(built, ports.actor)]),
    );
    const { bundle_id, root_hash, job_id, artifacts, bytes } = built;
    return { path, bundle_id, root_hash, job_id, artifacts, bytes, attestation: key === null ? null : file };
  },
});
