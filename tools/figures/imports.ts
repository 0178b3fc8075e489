import { sortedUnique } from "../../src/core/canonical/index.ts";
import type { CruisedModule } from "../docs/floor-plan.ts";

/** Modules inside rooms that app imports past a front door (`rooms/<room>/index.ts`). */
export function listDeepImports(modules: readonly CruisedModule[]): string[] {
  const imported = modules
    .filter(({ source }) => source.startsWith("src/app/"))
    .flatMap(({ dependencies }) => dependencies.map(({ resolved }) => resolved));
  return sortedUnique(imported.filter((path) => /^src\/rooms\/[^/]+\/(?!index\.ts$)/.test(path)));
}

/** Files outside adapters that import an adapter, other than the one place where adapters meet ports. */
export function listAdapterImporters(modules: readonly CruisedModule[]): string[] {
  const isCompose = (path: string) => path.startsWith("src/app/compose/");
  const importers = modules
    .filter(({ source }) => source.startsWith("src/") && !source.startsWith("src/adapters/") && !isCompose(source))
    .filter(({ dependencies }) => dependencies.some(({ resolved }) => resolved.startsWith("src/adapters/")));
  return sortedUnique(importers.map(({ source }) => source).filter((path) => !path.endsWith(".test.ts")));
}
