import { lstatSync } from "node:fs";
import { join } from "node:path";
import { measureTree } from "../../../adapters/disk/tree/tree-size.ts";
import { listBaseDifferences, readBaseFiles } from "../../../adapters/git/base-files.ts";
import { treeIgnores } from "../../../adapters/git/tree-ignores.ts";
import { GateReports } from "../../../adapters/process/gate-reports.ts";
import { formatCanonical } from "../../../core/canonical/index.ts";
import type { Caps } from "../../../core/contracts/caps.ts";
import { GUARD_NAMES } from "../../../core/contracts/guards.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { HostEntry } from "../../../core/network/host-names.ts";
import {
  canConfine,
  chooseGuard,
  type GuardName,
  type GuardRequest,
  lookAtTree,
  type NetworkMode,
  readPolicy,
  type TreeScan,
} from "../../../rooms/catalytic/index.ts";
import {
  type BaseTree,
  encodeWrites,
  type GitWork,
  type VerificationEnd,
  type VerificationPlace,
  type VerificationScript,
  type VerificationSession,
  type ViewWrite,
} from "../../../rooms/workflow/index.ts";
import { seeGit } from "../../agent/prepare/seen.ts";
import { toReportCaps } from "../../agent/request/caps.ts";
import { type MaskRequest, type Masks, NO_MASKS } from "../../agent/request/masks.ts";
import { createCatalyticPorts, toCatalyticPlaces, toHiddenPlaces } from "../catalytic-ports.ts";
import type { Composition } from "../compose.ts";
import { findMasks } from "../masks.ts";
import { readGitFacts } from "../tree-notes.ts";
import { describeProblem, type GateViewPlace, openGateView } from "./gate-view.ts";
import { openPlainly } from "./plain-verification.ts";

/** What a verification wants to stand on. */
export interface PlaceRequest {
  readonly base: "auto" | VerificationPlace["kind"];
  /** A tree with more bytes is not copied. */
  readonly copy_max: number;
  /** The guard of the run; null: the configured one. */
  readonly guard: GuardRequest | null;
  /** What of the network the commands are left; null: as the configuration says. */
  readonly network: { readonly mode: NetworkMode; readonly hosts: readonly HostEntry[] } | null;
  /** Which secrets are hidden from the commands; null: none but what always is. */
  readonly masks: MaskRequest | null;
  /** What the commands may use at most, those of the agent. */
  readonly caps: Caps;
  readonly git: GitWork;
  /** Where checkouts may be made, and of what. */
  readonly checkout: { readonly folder: string; readonly base: BaseTree; readonly commit: string };
}

/** The first of view, copy and checkout that this machine can do; GUARD_UNAVAILABLE when one was named and cannot be. */
export async function chooseVerificationPlace(
  composition: Composition,
  request: PlaceRequest,
): Promise<VerificationPlace> {
  if (request.base === "checkout")
    return createCheckoutPlace(composition, request, await findGuard(composition, request));
  const found = await findGuard(composition, request);
  const { root } = toCatalyticPlaces(composition);
  const kind = found === "ns-overlay" ? "view" : "copy";
  const isWanted = request.base === "auto" || request.base === kind;
  if (request.base === "copy" && found === "ns-overlay") {
    const bind = await findGuard(composition, { ...request, guard: "ns-bind" });
    if (bind !== null && isCopied(root, request)) return createTreePlace(composition, request, "copy", bind);
  } else if (found !== null && isWanted && (kind === "view" || isCopied(root, request))) {
    return createTreePlace(composition, request, kind, found);
  }
  if (request.base === "auto") return createCheckoutPlace(composition, request, found);
  throw unavailable(request, found);
}

function isCopied(root: string, { copy_max }: PlaceRequest): boolean {
  return measureTree(root, copy_max, [".verbatim"]) <= copy_max;
}

function unavailable({ base, copy_max }: PlaceRequest, guard: GuardName | null): VerbatimError {
  const why =
    base === "copy" && guard !== null
      ? `the tree is larger than agent.verify.copy_max (${copy_max} bytes)`
      : "no guard on this machine can do it";
  return new VerbatimError("GUARD_UNAVAILABLE", {
    message: `agent.verify.base is ${base}: ${why}`,
    where: "verbatim.config.json",
    fix: {
      cli: 'Set agent.verify.base to "auto", or see: verbatim doctor',
      others: 'Set agent.verify.base to "auto" in verbatim.config.json.',
    },
    details: { base, guard },
  });
}

/** The guard that keeps verification commands from the real tree; null where there is none. */
async function findGuard(composition: Composition, { guard, network }: PlaceRequest): Promise<GuardName | null> {
  const { settings } = readPolicy(toCatalyticPlaces(composition).config);
  const asked = guard ?? settings.guard;
  const probes = await createCatalyticPorts(composition).guards.probe(false);
  // A guard that only watches holds nothing back, so it is taken only where it was named.
  const wanted = asked === "auto" ? "require" : asked;
  const mode = network?.mode ?? settings.network;
  const { guard: chosen, error } = chooseGuard(composition.platform, wanted, probes, mode);
  // Without a guard the commands would have the whole network.
  const isOpen = chosen === null && mode !== "inherit";
  if (isOpen || error === "NETWORK_NOT_ENFORCEABLE") throw notEnforceable(mode, wanted);
  return chosen;
}

function notEnforceable(mode: NetworkMode, guard: GuardRequest): VerbatimError {
  return new VerbatimError("NETWORK_NOT_ENFORCEABLE", {
    message: `the verify commands may not reach more of the network than the agent (${mode}), and nothing here can enforce that`,
    fix: {
      cli: 'See which guards work: verbatim doctor. workflow.verify.isolation "worktree" has no guard at all',
      others: "Verify with a guard that can limit the network.",
    },
    exit: 2,
    http: 400,
    details: { requested: guard, network: mode },
  });
}

/** Audit only compares, and no guard does not even that. */
function holdsBack(guard: GuardName | null): boolean {
  return guard !== null && guard !== "audit";
}

/** The tree itself at its own place with everything git ignores, as an overlay or as a copy. */
function createTreePlace(
  composition: Composition,
  request: PlaceRequest,
  kind: "view" | "copy",
  guard: GuardName,
): VerificationPlace {
  const places = toCatalyticPlaces(composition);
  let look: TreeScan | null = null;
  let masks = NO_MASKS;
  const takeLook = () => {
    const taken = look;
    look = null;
    return taken;
  };
  return {
    kind,
    guarded: holdsBack(guard),
    hidden: () => masks,
    has: (path) => lstatSync(join(places.root, path), { throwIfNoEntry: false }) !== undefined,
    async freeze(base) {
      takeLook()?.close();
      look = await lookAtTree(createCatalyticPorts(composition), places);
      masks = request.masks === null ? NO_MASKS : findMasks(composition, request.masks, places.root, look);
      if (readGitFacts(look)?.base_tree === base.tree) return [];
      return await freezeTree(composition, places.root, base, masks);
    },
    async open(script, signal) {
      const visible = seeGit(treeIgnores, toHiddenPlaces(composition), places.root);
      return openInView(composition, { ...places, guard, visible, masks, look: takeLook() }, request, script, signal);
    },
    close: async () => takeLook()?.close(),
  };
}

/**
 * What has changed since the base, as the base has it, and hidden files without a byte. Bytes go through the content
 * store like those of a candidate.
 */
export async function freezeTree(
  composition: Composition,
  root: string,
  base: BaseTree,
  masks: Pick<Masks, "isHidden">,
): Promise<ViewWrite[]> {
  const differences = await listBaseDifferences(root, base);
  const writes: ViewWrite[] = differences.flatMap(({ path, mode }) => (mode === null ? [{ path, mode }] : []));
  const content = await composition.content("append");
  for await (const { path, mode, bytes } of readBaseFiles(root, base, differences)) {
    if (mode === "120000") writes.push({ path, mode, target: Buffer.from(bytes).toString("utf8") });
    else writes.push({ path, mode, sha256: await content.put(masks.isHidden(path) ? new Uint8Array() : bytes) });
  }
  return writes;
}

/** A checkout of the base alone, with what `workflow.verify.share` brings; a fresh one every time. */
function createCheckoutPlace(
  composition: Composition,
  request: PlaceRequest,
  guard: GuardName | null,
): VerificationPlace {
  const { share } = composition.config().workflow.verify;
  const { git, checkout } = request;
  const { root } = toCatalyticPlaces(composition);
  let made = 0;
  // The repository behind the checkout can be seen from it.
  const behind = request.masks === null ? NO_MASKS : findMasks(composition, request.masks, root, null);
  return {
    kind: "checkout",
    guarded: holdsBack(guard),
    hidden: () => behind,
    has: (path) => share.some((one) => one.path === path),
    freeze: async () => [],
    async open(script, signal) {
      const copy = await git.checkOut(join(checkout.folder, String(++made)), checkout.base, checkout.commit);
      for (const { path, how } of share) copy.share(`${root}/${path}`, path, how);
      if (guard === null)
        return openPlainly(await toInput(composition, script), copy.root, request.caps, script, signal);
      const places = toCatalyticPlaces(composition);
      const { policy } = readPolicy(places.config);
      const reads = [root, ...(checkout.base.objects === null ? [] : [checkout.base.objects])];
      const isolated = {
        ...places,
        root: copy.root,
        guard,
        runs: join(places.root, policy.runs_root),
        visible: reads,
        masks: maskCheckout(composition, request, behind, { root, copy: copy.root }),
        // git is not asked: the rules would be the candidate's.
        ignored: share.map(({ path }) => path),
      };
      return openInView(composition, isolated, request, script, signal);
    },
    close: async () => undefined,
  };
}

/** A checkout has the tracked secrets once more; those of the repository behind it are covered at their own places. */
function maskCheckout(
  composition: Composition,
  { masks }: PlaceRequest,
  behind: Masks,
  { root, copy }: { readonly root: string; readonly copy: string },
): Omit<Masks, "isHidden" | "names"> {
  if (masks === null) return NO_MASKS;
  const own = findMasks(composition, masks, copy, null);
  return { ...own, hidden: [...own.hidden, ...behind.files.map((path) => join(root, path)), ...behind.hidden] };
}

/** The network of the agent, and never more; while the set-up runs, the hosts that it needs besides. */
function toNetwork(
  network: PlaceRequest["network"],
  guard: GateViewPlace["guard"],
  more: readonly HostEntry[],
  reports: GateReports,
): Pick<GateViewPlace, "network" | "reach"> {
  if (network === null) return {};
  const canLimit = GUARD_NAMES.some((name) => name === guard && canConfine(name, "allow"));
  if (network.mode !== "inherit" && more.length > 0 && canLimit) {
    const hosts = [...network.hosts, ...more];
    const now = () => (reports.isFirst ? hosts : network.hosts);
    return { network: "allow", reach: { hosts, now, narrowed: reports.first() } };
  }
  return network.mode === "allow" ? { network: "allow", reach: { hosts: network.hosts } } : { network: network.mode };
}

/** A session in a view. The runner writes before anything else, with the rights of the gates and inside their guard. */
async function openInView(
  composition: Composition,
  place: GateViewPlace,
  { network, caps }: PlaceRequest,
  script: VerificationScript,
  signal: AbortSignal,
): Promise<VerificationSession> {
  const input = await toInput(composition, script);
  const reports = new GateReports(script.works, true);
  const asked = { input, collect: false, locked: script.locked ?? false, caps };
  const reach = toNetwork(network, place.guard, script.setup_hosts ?? [], reports);
  const running = openGateView(composition, { ...place, ...asked, ...reach }, script, reports, signal);
  return {
    written: () => input.written(reports),
    next: () => reports.next(),
    async close(): Promise<VerificationEnd> {
      const outcome = await running;
      const { run, ignored, changes } = outcome;
      const problem = describeProblem(outcome, reports);
      const held = outcome.caps === null ? {} : { caps: toReportCaps(outcome.caps) };
      return { catalytic_run_id: run.run_id, problem, ignored, changed_meanwhile: changes.concurrent, ...held };
    },
  };
}

/** The list of writes as the runner's input. What cannot be read here is said instead of what the runner makes of it. */
async function toInput(composition: Composition, { writes }: VerificationScript) {
  const content = await composition.content("append");
  let broken: { readonly thrown: unknown } | null = null;
  return {
    sha256: composition.crypto.sha256(formatCanonical(writes)),
    async *open() {
      try {
        yield* encodeWrites(writes, content);
      } catch (thrown) {
        broken = { thrown };
        throw thrown;
      }
    },
    async written(reports: GateReports) {
      try {
        return await reports.written();
      } catch (thrown) {
        throw broken === null ? thrown : broken.thrown;
      }
    },
  };
}
