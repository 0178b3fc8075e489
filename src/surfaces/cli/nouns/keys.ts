import { SCOPES } from "../../../core/trust/policy.ts";
import { formatTable } from "../table.ts";
import { defineVerb, type Noun } from "../verb.ts";

interface Key {
  readonly name: string;
  readonly key_id: string;
  readonly public_key: string;
  readonly public_file: string;
  readonly private_file: string | null;
}

interface Policy {
  readonly path: string;
  readonly threshold: number;
  readonly keys: readonly { name: string; key_id: string; scopes: readonly string[]; enabled: boolean }[];
}

function countFor(policy: Policy, scope: string): number {
  return policy.keys.filter((key) => key.enabled && key.scopes.includes(scope)).length;
}

export const noun: Noun = {
  verbs: [
    defineVerb<Key>({
      path: ["new"],
      operation: "keys.new",
      args: [{ field: "name", label: "NAME" }],
      examples: ["verbatim keys new ci"],
      render(key, io) {
        io.line(`${io.paint.good("made")} ${key.name}  key_id ${key.key_id}`);
        io.line(`  private ${key.private_file} (keep it to yourself)`);
        io.line(`  public  ${key.public_file}`);
        io.line(`next: ${io.paint.bold(`verbatim keys policy init trust.json --key ${key.name}`)}`);
      },
    }),
    defineVerb<{ readonly keys: readonly Key[] }>({
      path: ["list"],
      operation: "keys.list",
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
    defineVerb<Key>({
      path: ["show"],
      operation: "keys.show",
      args: [{ field: "key", label: "NAME" }],
      examples: ["verbatim keys show ci"],
      render(key, io) {
        io.line(`name        ${key.name}`);
        io.line(`key_id      ${key.key_id}`);
        io.line(`public_key  ${key.public_key}`);
        io.line(`file        ${key.public_file}`);
      },
    }),
    defineVerb<Policy>({
      path: ["policy", "init"],
      operation: "keys.policy-init",
      args: [{ field: "file", label: "FILE" }],
      flags: { keys: { name: "key", value: "NAME" }, scopes: { name: "scope" } },
      examples: [
        "verbatim keys policy init trust.json --key ci --scope BUNDLE --scope CHECKPOINT",
        "verbatim keys policy init trust.json --key ana --key bo --threshold 2",
      ],
      render: (policy, io) => {
        io.line(
          `${io.paint.good("written")} ${policy.path}: ${policy.threshold} of ${policy.keys.length} keys must sign`,
        );
      },
    }),
    defineVerb<Policy>({
      path: ["policy", "check"],
      operation: "keys.policy-check",
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
        const never = SCOPES.filter((scope) => countFor(policy, scope) < policy.threshold);
        if (never.length > 0) io.line(`nothing can pass for ${never.join(", ")}: too few enabled keys have that scope`);
      },
    }),
  ],
};
