import { encodeUtf8, formatCanonical } from "../../../core/canonical/index.ts";
import { VerbatimError } from "../../../core/errors/index.ts";
import type { GuardRequest } from "../../../rooms/catalytic/index.ts";
import {
  type BaseTree,
  COPY_FOLDER,
  type CommitHook,
  childEnvironment,
  TOOL_HOMES,
  toName,
  verifyCandidate,
} from "../../../rooms/workflow/index.ts";
import type { AgentPorts } from "../ports.ts";
import { readCaps } from "../request/caps.ts";
import { toVerifyMasks } from "../request/masks.ts";
import { readNetwork } from "../request/network.ts";
import type { OpenAgentRun } from "../request/session.ts";
import { findSecrets, redactVerified } from "../work/redact.ts";

interface HookRequest {
  /** The tree of the commit, and the commit that it follows. */
  readonly head: BaseTree & { readonly commit: string };
  readonly hooks: readonly CommitHook[];
  readonly message: string;
  /** SHA-256 of the candidate. */
  readonly candidate: string;
  readonly l: number;
}

/**
 * Runs the hooks of a commit in a verification view of its tree, with the agent's masks, network and caps: they execute files
 * that an agent may have written. COMMIT_HOOK_REFUSED when one fails, changes something, or cannot be held back.
 */
export async function runCommitHooks(
  outside: AgentPorts,
  { session, record }: OpenAgentRun,
  { head, hooks, message, candidate, l }: HookRequest,
): Promise<void> {
  const { run } = session;
  const { agent, workflow } = outside.config();
  const network = readNetwork(outside, record.now);
  const names = hooks.map(({ name }) => name).join(" and ");
  outside.progress.report({ label: `running ${names} on what is to be committed`, done: 0 });
  try {
    const ports = await outside.verification({
      base: agent.verify.base,
      copy_max: agent.verify.copy_max,
      guard: record.now.request.guard as GuardRequest | null,
      network,
      masks: toVerifyMasks(record.now, agent.verify.unmask),
      caps: readCaps(outside, record.now),
      git: run.ports.git,
      checkout: { folder: run.folder.makeFolder(COPY_FOLDER), base: head, commit: head.commit },
    });
    if (!ports.place.guarded) {
      await ports.place.close();
      throw refused(`${names} cannot be held back here, and no hook runs without a guard`, run.folder.dir);
    }
    const verified = await verifyCandidate(
      ports,
      {
        v: 1,
        candidate,
        base: { ...head, head: head.commit },
        writes: [],
        commands: [{ argv: outside.hookCommand({ tree: head.tree, hooks, message }), cmd: names }],
        setup: "none",
        timeout_s: agent.verify.timeout_s,
        baseline: false,
        ignored_at_start: null,
        env: childEnvironment(run.ports.env, [...TOOL_HOMES, ...workflow.verify.env_allow], {}),
        run_id: run.id,
        network: network.mode,
        caps: null,
        locked: true,
      },
      session.signal,
    );
    const { report, stdout, stderr } = redactVerified(findSecrets(outside, ports.place.hidden().values), verified);
    const folder = `agent/landings/${toName(l)}`;
    await run.folder.writeAll([
      [
        `${folder}/hooks.json`,
        encodeUtf8(`${formatCanonical({ commands: report.commands, result: report.result })}\n`),
      ],
      [`${folder}/hooks.stdout.log`, stdout],
      [`${folder}/hooks.stderr.log`, stderr],
    ]);
    if (report.result === "PASS") return;
    const tail = report.commands[0]?.tail ?? [];
    // The runner's own line says which hook it was and what it did.
    const said = tail.find((line) => /^(?:pre-commit|commit-msg) /.test(line)) ?? report.reason ?? names;
    throw refused(said, `${run.folder.dir}/${folder}/hooks.stdout.log`, tail);
  } finally {
    run.folder.remove(COPY_FOLDER);
  }
}

function refused(message: string, where: string, tail: readonly string[] = []): VerbatimError {
  return new VerbatimError("COMMIT_HOOK_REFUSED", {
    message,
    where,
    ...(tail.length === 0 ? {} : { details: { printed: [...tail] } }),
  });
}
