import type { CapName } from "../../../core/contracts/caps.ts";
import { describeHeld, describeMechanism } from "../request/caps.ts";
import { describeNotHidden, listNames } from "../request/masks.ts";
import type { AgentSummary } from "./agent-summary.ts";
import { count, type ExplainLine } from "./explain-words.ts";

/** Why a login file is as it was although the agent changed it. */
const NOT_KEPT: Readonly<Record<string, string>> = {
  new: "a first login inside a run is not kept; log in once outside",
  gone: "the agent removed it; yours is still there",
  too_large: "it became too large to be one",
  not_readable: "the agent left something there that is not a login",
  other_keys: "the agent gave it other fields",
  other_account: "the agent put in another account",
  older: "yours was refreshed meanwhile and is newer",
  not_written: "your home folder could not be written",
};

/** What an agent was given besides its view, and what it left in the home folder. `whole`: with every name. */
export function explainEquipment({ agent, kept: asked }: AgentSummary, typed: boolean, whole: boolean): ExplainLine[] {
  const list = (names: readonly string[]) => (whole ? names.join(", ") : listNames(names));
  const lines: ExplainLine[] = [];
  if (agent.withheld.length > 0) {
    const were = agent.withheld.length === 1 ? "was" : "were";
    const says = `${count(agent.withheld.length, "variable")} ${were} kept from it${whole ? `: ${list(agent.withheld)}` : ""}${typed ? "; pass one with --env NAME" : ""}`;
    lines.push({ mark: null, says });
  }
  if (agent.hidden.length > 0) {
    const says = `${count(agent.hidden.length, "secret place")} hidden from it: ${list(agent.hidden)}${typed ? "; show one with --unmask" : ""}`;
    lines.push({ mark: null, says });
  }
  if (agent.seen.length > 0) {
    lines.push({ mark: null, says: `it could read ${list(agent.seen)} in the temporary folder` });
  }
  if (agent.not_hidden.length > 0) {
    const says = describeNotHidden(list(agent.not_hidden), "this guard cannot hide files, so it could read");
    lines.push({ mark: "notice", says });
  }
  const changed = agent.login.filter(({ what }) => what !== "kept");
  if (changed.some(({ what }) => what === "refreshed")) {
    const but =
      asked.length === 0 ? "" : typed ? " but what was kept by --keep or agent.keep" : " but what stayed writable";
    lines.push({ mark: null, says: `your login was refreshed; nothing else in your home folder stayed${but}` });
  }
  for (const { path, what } of changed.filter(({ what }) => what !== "refreshed")) {
    lines.push({ mark: "notice", says: `the login file ${path} is as it was: ${NOT_KEPT[what] ?? what}` });
  }
  const kept = agent.login.filter(({ what }) => what === "kept").map(({ path }) => path);
  if (kept.length > 0) {
    const says = `${kept.join(", ")} stayed writable: the home folder cannot be a layer of its own under this guard`;
    lines.push({ mark: "notice", says });
  }
  lines.push(...explainCaps(agent.caps, typed));
  return lines;
}

/** The flag that allows twice of what was not enough. */
export function formatTwice({ cap, limit }: { readonly cap: CapName; readonly limit: number }): string {
  if (cap === "processes") return `--processes ${limit * 2}`;
  const twice = limit * 2;
  return `--${cap} ${twice < 1e9 ? `${Math.ceil(twice / 1e6)}MB` : `${Math.ceil(twice / 1e9)}GB`}`;
}

/** What held the agent back when it wanted too much; nothing where the kernel did and it was enough. */
function explainCaps(caps: AgentSummary["agent"]["caps"], typed: boolean): ExplainLine[] {
  if (caps?.mechanism == null) return [];
  const { mechanism, hit } = caps;
  const lines: ExplainLine[] = describeHeld(mechanism).map((says) => ({
    mark: says.startsWith("!") ? "notice" : null,
    says: says.replace(/^! /, ""),
  }));
  if (hit !== null) {
    const says = `${hit.cap} is ${describeMechanism(mechanism[hit.cap])}${typed ? `; give it more: ${formatTwice(hit)}` : ""}`;
    lines.push({ mark: "bad", says });
  }
  return lines;
}
