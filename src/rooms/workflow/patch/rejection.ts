/** Where in the gate a patch was refused. */
type PatchStage = "parse" | "path" | "policy" | "scope" | "git_check";

/** One rule a patch breaks. */
export interface PatchFinding {
  readonly code: string;
  readonly rule: string;
  readonly path?: string;
}

/** A refusal a program can read: stage, code, rule, the patch's line, the path, and all findings where there are more. */
export interface PatchRejection {
  readonly verdict: "reject";
  readonly stage: PatchStage;
  readonly code: string;
  readonly rule: string;
  readonly line?: number;
  readonly path?: string;
  readonly findings?: readonly PatchFinding[];
  /** What git said, git stage only. */
  readonly stderr?: string;
}

/** Every rule a refused patch breaks; a refusal by its form has one. */
export function listRefusals({ code, rule, path, findings }: PatchRejection): readonly PatchFinding[] {
  return findings ?? [{ code, rule, ...(path === undefined ? {} : { path }) }];
}

/** Ends the parse at the first problem. */
export class PatchRefused extends Error {
  override readonly name = "PatchRefused";
  readonly rejection: PatchRejection;

  constructor(rejection: PatchRejection) {
    super(rejection.rule);
    this.rejection = rejection;
  }
}

/** Refuses at a line of the patch (from 1). */
export function refuseParse(rule: string, line: number, path?: string): never {
  const where = path === undefined ? {} : { path };
  throw new PatchRefused({ verdict: "reject", stage: "parse", code: "PATCH_PARSE_INVALID", rule, line, ...where });
}

/** Refuses what the policy forbids by its form: binary payloads and other modes. */
export function refusePolicy(rule: string, line: number): never {
  throw new PatchRefused({ verdict: "reject", stage: "policy", code: "PATCH_POLICY_DENY", rule, line });
}

/** Refuses a name. */
export function refusePath(rule: string, line: number, path?: string): never {
  const where = path === undefined ? {} : { path };
  throw new PatchRefused({ verdict: "reject", stage: "path", code: "PATCH_PATH_INVALID", rule, line, ...where });
}
