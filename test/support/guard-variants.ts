import { runDisk } from "../../src/adapters/disk/runs/run-disk.ts";
import { createGuards } from "../../src/adapters/guards/index.ts";
import type { GuardName } from "../../src/core/contracts/guards.ts";
import type { CatalyticPorts } from "../../src/rooms/catalytic/ports.ts";
import { makeCatalyticRepo } from "./catalytic-repo.ts";

/** Every guard, ns-bind by each of its launchers. */
export const VARIANTS = [
  { name: "ns-overlay", guard: "ns-overlay", bind: "perl" },
  { name: "ns-bind by perl", guard: "ns-bind", bind: "perl" },
  { name: "ns-bind by bubblewrap", guard: "ns-bind", bind: "bubblewrap" },
  { name: "landlock", guard: "landlock", bind: "perl" },
  { name: "audit", guard: "audit", bind: "perl" },
] as const;
export type Variant = (typeof VARIANTS)[number];
type Probes = Readonly<Partial<Record<GuardName, string>>>;

export const isNamespace = ({ guard }: Variant): boolean => guard === "ns-overlay" || guard === "ns-bind";

/** The guards of this machine, tried once for all tests of a file. */
export interface Variants {
  answer(variant: Variant): string;
  /** Ports that use a variant without trying it again; the product's ledger has tests of its own. */
  ports(variant: Variant, more?: Partial<CatalyticPorts>): (ports: CatalyticPorts) => CatalyticPorts;
  close(): Promise<void>;
}

export async function tryVariants(): Promise<Variants> {
  const { base } = makeCatalyticRepo();
  const probes: Partial<Record<Variant["bind"], Probes>> = {};
  for (const bind of ["perl", "bubblewrap"] as const) probes[bind] = await createGuards(null, base, bind).probe(true);
  const answer = ({ guard, bind }: Variant) => probes[bind]?.[guard] ?? "NOT_THIS_PLATFORM";
  console.log(`guards: ${VARIANTS.map((one) => `${one.name} ${answer(one)}`).join(", ")}`);
  return {
    answer,
    ports({ bind }, more = {}) {
      const records = { appendRun: async () => undefined, append: async () => undefined };
      const guards = { ...createGuards(null, base, bind), probe: async () => probes[bind] as never };
      return (ports) => ({ ...ports, records, guards, ...more });
    },
    close: () => runDisk.discard(base),
  };
}
