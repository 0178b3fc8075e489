/** Where this process stands among the control groups of the machine. */
export interface GroupPlaces {
  /** Of the second version: its own group and every one above it that can be seen, from the inside out. */
  readonly unified: readonly string[];
  /** Of the first version: its own group by controller. */
  readonly memory: string | null;
  readonly pids: string | null;
}

/** Reads `/proc/self/mountinfo` and `/proc/self/cgroup`. */
export function findGroupPlaces(mounts: string, own: string): GroupPlaces {
  const lines = own.split("\n").map((line) => /^[0-9]+:([^:]*):(.*)$/.exec(line));
  const pathOf = (is: (controllers: string) => boolean) =>
    lines.find((line) => line !== null && is(line[1]!))?.[2] ?? null;
  const find = (type: string, controller: string | null): { readonly at: string; readonly mount: string } | null => {
    const path = pathOf((names) => (controller === null ? names === "" : names.split(",").includes(controller)));
    for (const line of mounts.split("\n")) {
      const [before = "", after = ""] = line.split(" - ");
      const [, , , root = "", mount = ""] = before.split(" ").map(unescapeOctal);
      const [kind, , options = ""] = after.split(" ");
      if (kind !== type || path === null || (controller !== null && !options.split(",").includes(controller))) continue;
      const below =
        root === "/" ? path : path === root ? "/" : path.startsWith(`${root}/`) ? path.slice(root.length) : null;
      if (below !== null && !below.split("/").includes(".."))
        return { mount, at: `${mount}${below === "/" ? "" : below}` };
    }
    return null;
  };
  const unified = find("cgroup2", null);
  return {
    unified: unified === null ? [] : listUpwards(unified.at, unified.mount),
    memory: find("cgroup", "memory")?.at ?? null,
    pids: find("cgroup", "pids")?.at ?? null,
  };
}

function listUpwards(from: string, top: string): string[] {
  const all = [from];
  for (let at = from; at.length > top.length; ) {
    at = at.slice(0, at.lastIndexOf("/"));
    all.push(at);
  }
  return all;
}

/** The kernel writes blanks and the like of a path as `\040`. */
function unescapeOctal(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
