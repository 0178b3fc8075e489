// Guards: what is hidden from a command cannot be read by it, whatever it tries, as root and as an ordinary user.
import { execFile, execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleChild } from "../support/child.ts";
import { scratchPlace } from "../support/scratch.ts";
import { findClosedFolder, SOMEBODY } from "../support/somebody.ts";

const SECRET = "tr0ub4dor-under-the-lamp";
const PUBLIC = "everybody may read this";

const ARM = process.arch === "arm64";
/** name_to_handle_at and open_by_handle_at have other numbers on other processors. */
const [NAME_TO_HANDLE, OPEN_BY_HANDLE] = ARM ? [264, 265] : [303, 304];
const [OPEN_TREE, OPENAT] = [428, ARM ? 56 : 257];

/** Asks the file system for an inode by its number, as the escape called Shocker did. */
const SHOCKER = `my $h = pack("IiII", 8, 1, $ENV{INODE}, 0); my ($d, $id) = (undef, pack("I", 0)); my $own = pack("Ii", 128, 0) . ("\\0" x 128);
my $path = "$ENV{H}"; syscall(${NAME_TO_HANDLE}, -100, $path, $own, $id, 0); opendir($d, $path);
for my $file ($path, "/", "$ENV{R}") { open(my $m, "<", $file); my $fd = syscall(${OPEN_BY_HANDLE}, fileno($m), $h, 0);
  if ($fd >= 0) { open(my $f, "<&=", $fd); print "by handle: ", <$f> } } print "tried\\n"`;

/** A copy of a mount without what is mounted on it. */
const CLONE = `my ($h, $s) = ($ENV{H}, ".ssh/id"); for my $flags (1, 1 | 0x8000) { my $t = syscall(${OPEN_TREE}, -100, $h, $flags); next if $t < 0;
  my $fd = syscall(${OPENAT}, $t, $s, 0, 0); if ($fd >= 0) { open(my $f, "<&=", $fd); print "by clone: ", <$f> } } print "tried\\n"`;

const READ = 'cat "$R/.env" "$R/sub/.env" "$H/.ssh/id" "$H/.netrc" "$S/.env" "$S/sub/twin"';
/** As root of a user namespace, and without being anybody there: both have every right inside it. */
const nested = (script: string) =>
  ["-Urm", "-Um"].map((flags) => `unshare ${flags} sh -c '${script}; echo tried'`).join("; ");
const everywhere = (script: string) =>
  ["", "unshare -Urm ", "unshare -Um "].map((how) => `${how}perl -e '${script}'`).join("; ");

const ATTACKS: Readonly<Record<string, string>> = {
  "reads them": READ,
  "reads what nobody hides": 'cat "$H/notes" "$R/app" "$S/notes"',
  "searches for them": `grep -rs tr0ub4dor "$R" "$H" "$W" "$S"`,
  "goes around them in a folder that it may see": `n="\${S#/tmp/}"; cat "/var/tmp/$n/.env" "$W/tmp/$n/.env" "/var/tmp/$n/sub/twin"; mv "$S/sub" "$S/s2"; cat "$S/s2/twin"; cp -r "$S" "$R/seen"; cat "$R/seen/.env" "$R/seen/sub/twin"; mkdir -p "$R/b"; mount --bind "$S" "$R/b"; cat "$R/b/.env"; umount "$S/.env"; umount -l "$S"; cat "$S/.env"; rm -f "$S/.env"; cat "$S/.env"; for p in /proc/[0-9]*; do cat $p/root$S/.env; done`,
  "goes around them there in a namespace of its own": nested(
    "umount $S/.env; umount -l $S; cat $S/.env $S/sub/twin; mkdir -p $R/n; mount --bind $S $R/n; cat $R/n/.env $R/n/sub/twin",
  ),
  "looks through other processes": `for p in /proc/[0-9]*; do cat $p/root$R/.env $p/root$H/.ssh/id $p/root$H/.netrc $p/cwd/.env $p/root$W/lo0/.env; for f in $p/fd/*; do cat $f/.ssh/id $f/id $f/.env; done; done`,
  "looks below the layers":
    'ls -R "$W"; cat "$W"/lo0/.env "$W"/lo1/.ssh/id "$W"/up0/.env "$W"/cp0/.env "$W"/hm1/up1/.netrc',
  "goes by the other names of the temporary folder": `for d in /var/tmp "$W/tmp"; do h="$d/\${H#/tmp/}"; w="$d/\${W#/tmp/}"; r="$d/\${R#/tmp/}"; cat "$h/.ssh/id" "$h/.netrc" "$w/lo0/.env" "$w/lo1/.ssh/id" "$r/.env"; done`,
  "takes them off": `umount -l "$H/.ssh"; umount "$H/.netrc"; umount -l "$R"; umount -l "$W"; ${READ}; cat "$W/lo0/.env"`,
  "moves and remounts them": `mkdir "$R/x"; mount --move "$H/.ssh" "$R/x"; mount -o remount,rw "$H/.ssh"; ${READ}`,
  "binds around them": 'mkdir -p "$R/x"; mount --bind "$H" "$R/x"; cat "$R/x/.ssh/id" "$R/x/.netrc"',
  "takes them off in a namespace of its own": nested(
    `umount -l $H/.ssh; umount $H/.netrc; umount -l $W; ${READ}; cat $W/lo1/.ssh/id`,
  ),
  "binds around them in a namespace of its own": nested(
    "mkdir -p $R/y; mount --bind $H $R/y; cat $R/y/.ssh/id $R/y/.netrc",
  ),
  "binds the root around them in a namespace of its own": nested(
    "mkdir -p $R/z; mount --bind / $R/z; cat $R/z$H/.ssh/id; mount --rbind / $R/z; umount -l $R/z$H/.ssh; cat $R/z$H/.ssh/id; chroot $R/z cat $H/.ssh/id",
  ),
  "lays an overlay over their folder (CVE-2021-3732)": nested(
    "mkdir -p $R/l $R/u $R/k; mount -t overlay overlay -o lowerdir=$H,upperdir=$R/u,workdir=$R/k,userxattr $R/l; cat $R/l/.ssh/id $R/l/.netrc; mount -t overlay overlay -o lowerdir=$H:$R,userxattr $R/l; cat $R/l/.ssh/id",
  ),
  "clones the mount without them": everywhere(CLONE),
  "opens them by their inode (Shocker)": everywhere(SHOCKER),
  "enters the namespaces of others": 'nsenter -t 1 -m cat "$H/.ssh/id"; nsenter -t $PPID -m cat "$H/.ssh/id"',
  "gives them other names":
    'ln "$H/.ssh/id" "$R/h"; ln "$R/.env" "$R/e"; ln -s "$H/.ssh" "$R/s"; cp -r "$H/.ssh" "$R/c"; cat "$R/h" "$R/e" "$R/s/id" "$R/c/id"',
  "renames what is above them":
    'mv "$R/sub" "$R/sub2"; cat "$R/sub2/.env"; mv "$H" "$H.2"; cat "$H.2/.ssh/id"; mv "$H/.ssh" "$H/s"; cat "$H/s/id"',
  "removes and makes them again": `rm -rf "$H/.ssh" "$H/.netrc" "$R/.env"; mkdir "$H/.ssh"; ${READ}`,
  "opens what was closed": `chmod -R 777 "$H/.ssh" "$R"; chown -R $(id -u) "$H/.ssh"; ${READ}`,
  "writes to them": 'echo mine > "$H/.ssh/id"; echo mine > "$H/.netrc"; echo mine > "$R/.env"; cat "$R/.env"',
  "talks to a service that listens": `perl -MSocket -e 'socket(my $s, AF_UNIX, SOCK_STREAM, 0); print connect($s, sockaddr_un("$ENV{H}/s.sock")) ? <$s> : "refused: $!\\n"'`,
};

const NESTED = Object.keys(ATTACKS).filter((name) => ATTACKS[name]!.includes("unshare"));

const SCRIPT = Object.entries(ATTACKS)
  .map(([name, script]) => `printf '\\n## %s\\n' '${name}'; ( ${script} ) 2>&1 </dev/null`)
  .join("\n");

const cache = scratchPlace();
const VARIANTS = [
  { guard: "ns-overlay", bind: "perl", below: cache },
  { guard: "ns-bind", bind: "perl", below: cache },
  { guard: "ns-bind", bind: "bubblewrap", below: cache },
  { guard: "ns-overlay", bind: "perl", below: "/tmp" },
] as const;

let program: Awaited<ReturnType<typeof bundleChild>>;

beforeAll(async () => {
  program = await bundleChild("test/support/mask-child.ts");
});

afterAll(() => program.remove());

/** A tree, a home, a work folder, and a folder below /tmp to see, for somebody. */
function makeCage(
  below: string,
  isOverlay: boolean,
  isSomebody: boolean,
): { readonly base: string; readonly seen: string } {
  mkdirSync(below, { recursive: true });
  const base = realpathSync(mkdtempSync(join(below, "masks-")));
  for (const folder of ["root/sub", "home/.ssh", "work"]) mkdirSync(join(base, folder), { recursive: true });
  for (const file of ["root/.env", "root/sub/.env", "home/.ssh/id", "home/.netrc"])
    writeFileSync(join(base, file), SECRET);
  for (const file of ["root/app", "home/notes"]) writeFileSync(join(base, file), PUBLIC);
  const seen = mkdtempSync("/tmp/verbatim-masks-");
  mkdirSync(join(seen, "sub"));
  for (const file of [".env", "sub/twin"]) writeFileSync(join(seen, file), SECRET);
  writeFileSync(join(seen, "notes"), PUBLIC);
  if (!isOverlay) {
    // Where there is a copy, whoever makes it empties the files of the tree.
    cpSync(join(base, "root"), join(base, "work/cp0"), { recursive: true });
    for (const file of [".env", "sub/.env"]) writeFileSync(join(base, "work/cp0", file), "");
  }
  const { uid, gid } = SOMEBODY;
  if (isSomebody && uid !== undefined) execFileSync("chown", ["-R", `${uid}:${gid}`, base, seen]);
  return { base, seen };
}

/** Everything below a folder, told by its bytes. */
function readAll(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), "utf8")]),
  );
}

describe.each(VARIANTS)("with $guard made by $bind", ({ guard, bind, below }) => {
  it.for([
    { user: "root or whoever runs the tests", isSomebody: false },
    { user: "an ordinary user", isSomebody: true },
  ])("nothing hidden is read, and nothing of it changes: $user", async ({ isSomebody }, { skip }) => {
    const closed = isSomebody ? findClosedFolder(below) : null;
    if (closed !== null) skip(`another user may not enter ${closed}`);
    const { base, seen } = makeCage(below, guard === "ns-overlay", isSomebody);
    const server = createServer((socket) => socket.end(SECRET));
    await new Promise<void>((done) => server.listen(join(base, "home/s.sock"), done));
    try {
      const read = () => ({ ...readAll(join(base, "home")), ...readAll(join(base, "root")), ...readAll(seen) });
      const before = read();
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [program.file, JSON.stringify({ guard, bind, base, seen, script: SCRIPT })],
        {
          env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
          maxBuffer: 16 * 1024 * 1024,
          ...(isSomebody ? SOMEBODY : {}),
        },
      );
      const { output, why } = JSON.parse(stdout) as { readonly output: string; readonly why: string | null };
      if (why !== null) return skip(`the guard does not work here: ${why}`);
      const said = new Map(
        output
          .split("\n## ")
          .slice(1)
          .map((part) => part.split(/\n(.*)/s).slice(0, 2) as [string, string]),
      );
      expect([...said.keys()]).toEqual(Object.keys(ATTACKS));
      for (const [name, text] of said) expect(text, name).not.toContain(SECRET.slice(0, 9));
      expect(said.get("reads what nobody hides")).toContain(`${PUBLIC}${PUBLIC}${PUBLIC}`);
      expect(said.get("talks to a service that listens")).toContain("refused");
      // They were really tried, in a namespace of their own too.
      for (const name of NESTED) expect(said.get(name), name).toContain("tried");
      expect(read()).toEqual(before);
    } finally {
      await new Promise((done) => server.close(done));
      for (const folder of [base, seen]) rmSync(folder, { recursive: true, force: true });
    }
  });
});
