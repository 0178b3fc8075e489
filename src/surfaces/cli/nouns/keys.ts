import type { Output } from "../../../app/operations.ts";
import { showLine } from "../../../core/text/index.ts";
import { SCOPES, type Scope } from "../../../core/trust/policy.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

function countFor(policy: Output<"keys.policy-check">, scope: Scope): number {
  return policy.keys.filter((key) => key.enabled && key.scopes.includes(scope)).length;
}

export const noun: Noun = {
  verbs: [
    defineVerb("keys.new", {
      path: ["new"],
      args: [{ field: "name", label: "NAME" }],
      examples: ["verbatim keys new ci"],
      render(key, io) {
        io.line(`${io.paint.good("created")} ${key.name}  key_id ${key.key_id}`);
        io.line(`  private ${key.private_file} (keep it secret)`);
        io.line(`  public  ${key.public_file}`);
        io.line(`next: ${io.paint.bold(`verbatim keys policy init trust.json --key ${key.name}`)}`);
      },
    }),
    defineVerb("keys.list", {
      path: ["list"],
      examples: ["verbatim keys list"],
      render({ keys }, io) {
        if (keys.length === 0) io.line("no keys yet: verbatim keys new NAME");
        const rows = keys.map((key) => [
          key.name,
          key.private_file === null ? "public only" : "can sign",
          io.flags.full ? key.key_id : key.key_id.slice(0, 16),
        ]);
        if (rows.length > 0) {
          for (const line of formatTable([{ title: "name" }, { title: "use" }, { title: "key_id" }], rows, io.width))
            io.line(line);
        }
      },
    }),
    defineVerb("keys.show", {
      path: ["show"],
      args: [{ field: "key", label: "NAME" }],
      examples: ["verbatim keys show ci"],
      render(key, io) {
        io.line(`name        ${key.name}`);
        io.line(`key_id      ${key.key_id}`);
        io.line(`public_key  ${key.public_key}`);
        io.line(`file        ${key.public_file}`);
      },
    }),
    defineVerb("keys.policy-init", {
      path: ["policy", "init"],
      args: [{ field: "file", label: "FILE" }],
      flags: {
        keys: { name: "key", value: "NAME" },
        scopes: { name: "scope" },
        require_commands: { name: "require", value: "CMD" },
        permit: { value: "PATH" },
      },
      examples: [
        "verbatim keys policy init trust.json --key ci --scope BUNDLE --scope CHECKPOINT",
        "verbatim keys policy init trust.json --key ana --key bo --threshold 2",
        'verbatim keys policy init .github/agents.json --key mira --scope AGENT --require "npm test"',
      ],
      render: (policy, io) => {
        io.line(
          `${io.paint.good("written")} ${policy.path}: ${policy.threshold} of ${policy.keys.length} keys must sign`,
        );
      },
    }),
    defineVerb("keys.policy-check", {
      path: ["policy", "check"],
      args: [{ field: "file", label: "FILE" }],
      examples: ["verbatim keys policy check trust.json"],
      render(policy, io) {
        const rows = policy.keys.map((key) => [
          key.name,
          key.enabled ? "enabled" : "disabled",
          key.scopes.join(" "),
          io.flags.full ? key.key_id : key.key_id.slice(0, 16),
        ]);
        if (rows.length > 0) {
          for (const line of formatTable(
            [{ title: "name" }, { title: "state" }, { title: "scopes" }, { title: "key_id" }],
            rows,
            io.width,
          ))
            io.line(line);
        }
        io.line(
          `${io.paint.good("valid")} ${policy.threshold} distinct key${policy.threshold === 1 ? "" : "s"} must sign`,
        );
        for (const command of policy.require_commands ?? []) io.line(`commits of agents need: ${showLine(command)}`);
        for (const path of policy.permit ?? []) io.line(`commits of agents may change: ${showLine(path)}`);
        // Whoever says nothing of agents wants nothing to pass for them.
        const isMeant = (scope: Scope) => scope !== "AGENT" || policy.keys.some(({ scopes }) => scopes.includes(scope));
        const never = SCOPES.filter((scope) => isMeant(scope) && countFor(policy, scope) < policy.threshold);
        if (never.length > 0) io.line(`nothing can pass for ${never.join(", ")}: too few enabled keys have that scope`);
      },
    }),
  ],
};
