import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/canonical/index.ts";
import { given } from "../../core/conformance-input.ts";
import { resolveWorkflow } from "../../core/contracts/config/index.ts";
import { isVerbatimError } from "../../core/errors/index.ts";
import {
  buildPack,
  checkFileRequest,
  formatArtifact,
  judgePatch,
  judgePatchWithGit,
  type PlanLimits,
  readPolicy,
  type Scope,
  toBytes,
  toRepoSlug,
  WORKFLOW_AREAS,
} from "../../rooms/workflow/index.ts";
import type { AreaFunction, AreaPorts } from "./ports.ts";

/** Every area of the workflow room; two of them work on real files and a real git. */
export const WORKFLOW_ROOM_AREAS: Readonly<Record<string, AreaFunction>> = {
  ...WORKFLOW_AREAS,
  "workflow.librarian": (input, { crypto, readerOf }) =>
    withFolder(input, (root) => {
      const config = given<{
        mandatory_docs?: { path: string; required: boolean }[];
        deny_prefixes?: string[];
        secrets_allow?: string[];
      }>(isJsonObject(input["config"]) ? input["config"] : {});
      const defaults = resolveWorkflow();
      const request = checkFileRequest(input["file_request"]!, null);
      if (request.value === null) {
        return { ok: false, code: "FILE_REQUEST_INVALID", errors: toPlain(request.errors) };
      }
      const rules = {
        mandatory_docs: config.mandatory_docs ?? defaults.mandatory_docs,
        deny_prefixes: config.deny_prefixes ?? [],
        secrets: { allow: config.secrets_allow ?? [], deny_extra: [] },
        max_snippet_file_bytes: defaults.librarian.max_snippet_file_bytes,
      };
      const slug = toRepoSlug(String(input["repo_dirname"]), (name) => crypto.sha256(name));
      try {
        const pack = buildPack(request.value, slug, rules, readerOf(root));
        return {
          ok: true,
          context_pack: toPlain(pack),
          context_pack_file_sha256: crypto.sha256(formatArtifact(pack)),
        };
      } catch (thrown) {
        if (!isVerbatimError(thrown)) throw thrown;
        return { ...(thrown.details as JsonObject | undefined), ok: false, code: thrown.code };
      }
    }),
  "workflow.patch-gate": async (input, ports) => {
    const gate = {
      patch: toBytes(input["patch"] ?? ""),
      scope: given<Scope | null>(input["scope"] ?? null),
      planLimits: given<PlanLimits | null>(input["plan_limits"] ?? null),
    };
    try {
      const policy = readPolicy(input["policy"]);
      if (!isJsonObject(input["repo_files"])) return toPlain(judgePatch({ ...gate, policy }).result);
      return await withFolder(input, async (root) => {
        await commitAll(ports, root);
        return toPlain(await judgePatchWithGit({ ...gate, policy }, ports.checkerOf(root), null));
      });
    } catch (thrown) {
      if (!isVerbatimError(thrown)) throw thrown;
      const { code } = thrown;
      return { verdict: "reject", ok: false, code, error: { code } };
    }
  },
};

function toPlain(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

/** Writes a vector's files below a temporary folder and removes it afterwards. */
async function withFolder(
  input: JsonObject,
  run: (root: string) => JsonValue | Promise<JsonValue>,
): Promise<JsonValue> {
  const folder = mkdtempSync(join(tmpdir(), "verbatim-vector-"));
  const root = join(folder, "repository");
  try {
    mkdirSync(root);
    for (const [path, content] of Object.entries((input["repo_files"] ?? {}) as JsonObject)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      if (isJsonObject(content) && typeof content["symlink"] === "string")
        symlinkSync(content["symlink"], join(root, path));
      else writeFileSync(join(root, path), toBytes(content));
    }
    return await run(root);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function commitAll({ git }: AreaPorts, root: string): Promise<void> {
  const who = ["-c", "user.name=vector", "-c", "user.email=vector@example.invalid", "-c", "commit.gpgsign=false"];
  await git(root, ["init", "-q"]);
  await git(root, ["-c", "core.autocrlf=false", "add", "-A", "-f"]);
  await git(root, [...who, "commit", "-q", "--allow-empty", "-m", "vector"]);
}
