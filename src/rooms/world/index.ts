// The front door of this room: everything the app may use of it. Nothing inside the room imports this file.

export { Beats } from "./beat/beats.ts";
export { WORLD_AREAS } from "./conformance/index.ts";
export { checkEntry, type WriteEntry } from "./contracts/entry.ts";
export { checkEnvelope, type Envelope } from "./contracts/envelope.ts";
export { WORLD_CONTRACTS } from "./contracts/index.ts";
export {
  type CapsulePack,
  checkCapsule,
  checkRehydration,
  checkRetrievalPack,
  checkSceneAnchor,
  type RehydrationPack,
  type RetrievalResultPack,
  type SceneAnchorPack,
} from "./contracts/packs.ts";
export { checkProjectionOutput, type ProjectionOutput } from "./contracts/projection-output.ts";
export { checkToolRequest, type ToolRequest } from "./contracts/tool-request.ts";
export { checkWriteBundle, type WriteBundle } from "./contracts/write-bundle.ts";
export type { Maintenance } from "./history/erase.ts";
export { gate, isAllowed, type View } from "./knowledge/gate.ts";
export { WORLD_OPERATIONS, type WorldRoom } from "./operations/index.ts";
export { DEFAULT_TIMES, type WorldPorts } from "./operations/ports.ts";
export { BYTES_BY_THREE } from "./people/tokens.ts";
export type { WorldReader, WorldWriter } from "./ports.ts";
