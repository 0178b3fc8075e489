import type { TreeFiles } from "../../rooms/workflow/ports.ts";
import { requireGit, splitNul } from "./git-process.ts";

const MODES = ["100644", "100755", "120000"] as const;
const MOST_NAMES = 500;

/** Files of trees of one repository; its index, work tree and filters have no say. */
export function createTreeFiles(root: string): TreeFiles {
  return {
    async find(base, paths) {
      const env: Record<string, string> =
        base.objects === null ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: base.objects };
      const found = new Map<string, { readonly mode: (typeof MODES)[number]; read(): Promise<Uint8Array> }>();
      for (let at = 0; at < paths.length; at += MOST_NAMES) {
        const names = paths.slice(at, at + MOST_NAMES);
        const args = ["--literal-pathspecs", "ls-tree", "-z", "--full-tree", base.tree, "--", ...names];
        for (const row of splitNul(await requireGit({ cwd: root, args, env }))) {
          const tab = row.indexOf("\t");
          const [text, , id] = row.slice(0, tab).split(" ");
          const mode = MODES.find((one) => one === text);
          if (mode === undefined) continue;
          found.set(row.slice(tab + 1), {
            mode,
            read: () => requireGit({ cwd: root, args: ["cat-file", "blob", id!], env }),
          });
        }
      }
      return found;
    },
  };
}
