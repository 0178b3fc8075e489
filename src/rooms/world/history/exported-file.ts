import { isJsonObject, parseJson } from "../../../core/canonical/index.ts";
import { isVerbatimError } from "../../../core/errors/index.ts";
import type { TrustPolicy } from "../../../core/trust/index.ts";
import type { WorldPorts } from "../operations/ports.ts";
import { VIEW_FORMAT, verifyViewFile } from "../projection/view-file.ts";
import { type ExportEnds, type ExportTrust, judgeSignature } from "./export-signature.ts";
import { replayFile } from "./file-records.ts";
import type { LineageRecord } from "./lineage.ts";
import type { Effects } from "./reduce.ts";
import { type FileFinding, verifyWorldFile, type WorldFile } from "./world-file.ts";

type Ports = Pick<WorldPorts, "crypto" | "zones" | "graphemes">;

/** What is known about a file that says it is an export. */
interface ExportReport {
  readonly world_id: string;
  readonly checked: { readonly records: number; readonly entries: number; readonly outcomes: number };
  readonly head: { readonly position: number; readonly hash: string } | null;
  /** Null for a file whose ends cannot be read. */
  readonly trust: ExportTrust | null;
  readonly findings: readonly FileFinding[];
}

/** Checks an exported world, or an exported view of one, without a store. */
export async function verifyExport(ports: Ports, text: string, policy: TrustPolicy | null): Promise<ExportReport> {
  if (isView(text)) {
    const { file, findings } = verifyViewFile(ports.crypto, text);
    const checked = { records: 0, entries: file?.entries ?? 0, outcomes: 0 };
    return { ...(await judge(ports, text, policy, file, findings)), checked, head: null };
  }
  const { file, image, findings } = checkWorldFile(ports, text);
  const last = file?.records.at(-1);
  return {
    ...(await judge(ports, text, policy, file, findings)),
    checked: {
      records: file?.records.length ?? 0,
      entries: image?.entries.length ?? 0,
      outcomes: file?.outcomes.length ?? 0,
    },
    head: last === undefined ? null : { position: last.position, hash: last.hash },
  };
}

async function judge(
  { crypto }: Ports,
  text: string,
  policy: TrustPolicy | null,
  ends: ExportEnds | null,
  findings: readonly FileFinding[],
): Promise<Pick<ExportReport, "world_id" | "trust" | "findings">> {
  if (ends === null) return { world_id: "", trust: null, findings };
  const signed = await judgeSignature(crypto, policy, ends, text);
  const world_id = String(ends.header["world_id"] ?? "");
  return { world_id, trust: signed.trust, findings: [...findings, ...signed.findings] };
}

/** A file says in its first line what it is. */
function isView(text: string): boolean {
  try {
    const header = parseJson(text.slice(0, text.indexOf("\n")));
    return isJsonObject(header) && header["format"] === VIEW_FORMAT;
  } catch (thrown) {
    if (isVerbatimError(thrown)) return false;
    throw thrown;
  }
}

/** Everything an export must be before it is believed: bytes, chains, payloads, and records that can be replayed. */
export function checkWorldFile(
  ports: Ports,
  text: string,
): {
  readonly file: WorldFile | null;
  readonly image: Effects | null;
  readonly records: readonly LineageRecord[];
  readonly findings: readonly FileFinding[];
} {
  const { file, findings } = verifyWorldFile(ports.crypto, text);
  if (file === null || findings.length > 0) return { file, image: null, records: [], findings };
  return { file, ...replayFile(ports, file.records) };
}
