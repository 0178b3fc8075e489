import { isJsonObject, type JsonValue, toJson, utf8Length } from "../../../core/canonical/index.ts";
import { readText } from "../../../core/contracts/index.ts";
import type { checkRetrievalPack } from "../contracts/packs.ts";
import type { ToolRequest } from "../contracts/tool-request.ts";
import type { WorldPorts } from "../operations/ports.ts";
import type { OpenWorld } from "../projection/reading.ts";
import { cutPack, packBytes } from "../retrieval/search.ts";
import { getEntries, searchWorld } from "../retrieval/world-search.ts";
import type { Evidence } from "../writer/beat-loop.ts";
import { CAPSULE_BYTES } from "./capsule.ts";
import { makeCapsule } from "./capsules.ts";
import type { View } from "./gate.ts";
import { makeSceneAnchor } from "./scene-packs.ts";

interface EvidenceOptions {
  readonly request_id: string;
  readonly world_time: string;
  /** Bytes that may still be shown. */
  readonly max_bytes: number;
}

/** What the ledger answers to a tool request of a writer, in a view. Only reads. */
export async function findEvidence(
  ports: WorldPorts,
  tables: Parameters<typeof searchWorld>[1],
  world: OpenWorld,
  view: View,
  request: ToolRequest & { readonly tool_request_id: string },
  { request_id, world_time, max_bytes }: EvidenceOptions,
): Promise<Evidence> {
  const { tools } = world.state.settings;
  const head = { tool_request_id: request.tool_request_id, request_id };
  const most = Math.min(tools.pack_bytes, max_bytes);
  const limit = Math.min(request.limit, tools.max_results);
  switch (request.name) {
    case "LEDGER_SEARCH": {
      const query = { ...request, query_text: request.query_text ?? "", limit };
      const options = { head, max_bytes: tools.pack_bytes };
      return toEvidence(cutPack(await searchWorld(ports, tables, world, view, query, options), max_bytes));
    }
    case "LEDGER_GET": {
      const named = request.has_limit ? limit : tools.max_results;
      const query = { ...request, query_text: request.query_text ?? "", limit: named };
      const options = { head, max_bytes: tools.pack_bytes };
      const pack = await getEntries(ports, tables, world, view, query, options);
      return toEvidence(cutPack(pack, max_bytes));
    }
    case "CAPSULE_GET": {
      const bytes = Math.min(most, CAPSULE_BYTES);
      const pack = await makeCapsule(ports, tables, world, view, request.person_id!, bytes, world_time);
      return { value: toJson(pack), bytes: utf8Length(pack.sections[0]!.text) };
    }
    case "SCENE_PACK_BUILD": {
      const pack = await makeSceneAnchor(ports, tables, world, view, { request_id, world_time });
      const fits = pack !== null && utf8Length(pack.text) <= most;
      if (fits) return { value: toJson(pack), bytes: utf8Length(pack.text) };
      return toEvidence({ ...head, results: [], empty: true, notes: null });
    }
  }
}

function toEvidence(pack: ReturnType<typeof checkRetrievalPack>): Evidence {
  return { value: toJson(pack), bytes: packBytes(pack) };
}

/** Cuts the last result of the last pack, or the last pack itself. */
export function dropLast(evidence: readonly Evidence[]): readonly Evidence[] {
  const last = evidence.at(-1)!.value;
  const rest = evidence.slice(0, -1);
  if (!isJsonObject(last) || !Array.isArray(last["results"]) || last["results"].length === 0) return rest;
  const results = (last["results"] as JsonValue[]).slice(0, -1);
  const value = { ...last, results, empty: results.length === 0 };
  const bytes = results.reduce<number>((sum, one) => sum + utf8Length(readText(one, "verbatim_excerpt") ?? ""), 0);
  return [...rest, { value, bytes }];
}

/** Ids of the entries that evidence quotes. */
export function findIds(evidence: readonly Evidence[]): string[] {
  return evidence.flatMap(({ value }) => {
    if (!isJsonObject(value)) return [];
    const { results, provenance, sections } = value as {
      readonly results?: readonly { readonly entry_id: string }[];
      readonly provenance?: { readonly used_entry_ids: readonly string[] };
      readonly sections?: readonly { readonly provenance: { readonly used_entry_ids: readonly string[] } }[];
    };
    return [
      ...(results ?? []).map(({ entry_id }) => entry_id),
      ...(provenance?.used_entry_ids ?? []),
      ...(sections ?? []).flatMap((section) => section.provenance.used_entry_ids),
    ];
  });
}
