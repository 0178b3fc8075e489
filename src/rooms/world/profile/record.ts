import { z } from "zod";
import { encodeUtf8, formatCanonical, sortedUnique, toJson } from "../../../core/canonical/index.ts";
import { defineRecords } from "../../../core/contracts/records.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { ProfileReport } from "./report.ts";

const hex = z.string().regex(/^[0-9a-f]{64}$/);

/** What the stream of imported profiles holds. */
const PROFILE_RECORDS = defineRecords({
  PROFILE_IMPORTED: z.object({
    report_sha256: hex,
    totals: z.record(z.string(), z.int()),
    /** Files that nothing became of, which are kept all the same. */
    kept: z.array(hex),
  }),
});

const PROFILE_STREAM = "world/_profile";

/** Keeps a report and says so in the ledger. The same report again changes nothing. */
export async function recordProfile(ports: WorldPorts, report: ProfileReport): Promise<void> {
  const report_sha256 = await ports.content.put(encodeUtf8(`${formatCanonical(toJson(report))}\n`));
  const kept = report.files.flatMap(({ outcome, sha256 }) => (outcome === "KEPT" && sha256 !== null ? [sha256] : []));
  const body = { report_sha256, totals: { ...report.totals }, kept: sortedUnique(kept) };
  await ports.store.transact(async (tx) => {
    const head = await tx.ledger.head(PROFILE_STREAM);
    if (head !== null) {
      const [last] = await tx.ledger.readStream(PROFILE_STREAM, head.position, 1);
      const before = last === undefined ? null : PROFILE_RECORDS.read(last);
      if (before?.body.report_sha256 === report_sha256) return;
    }
    await tx.ledger.append(PROFILE_STREAM, "next", [PROFILE_RECORDS.make("PROFILE_IMPORTED", ports.actor, body)]);
  });
}
