import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGuards } from "../../src/adapters/guards/index.ts";
import { landlockAbi } from "../../src/adapters/guards/landlock.ts";
import { GUARD_FACTS } from "../../src/core/contracts/guards.ts";
import { isVerbatimError } from "../../src/core/errors/index.ts";
import { VARIANTS, type Variant } from "../support/guard-variants.ts";
import { needs } from "../support/needs.ts";
import { makeCageFolder, removeCage } from "../support/network-cage.ts";

// Guards: ways out of other sandboxes that were published, each by its name, against every guard that claims to stop it.
// Those of the network, of terminals and of git are in their own suites.

const linux = process.platform === "linux" ? null : "these guards are those of Linux";
const folders: string[] = [];
/** A process of the same user outside, which nobody inside may touch, and a piece of memory that it shares. */
let victim: ReturnType<typeof spawn>;
let segment = "";
/** Somebody listens at an address without a path. */
const listener = createServer((socket) => socket.end());
const ABSTRACT = `verbatim-${process.pid}-lamp`;
/** A key that the kernel keeps for this user, and one for this session; null where it keeps none. */
let keys: ReturnType<typeof spawn> | null = null;
const [ADD_KEY, KEYCTL] = process.arch === "arm64" ? [217, 219] : [248, 250];
/** Asks for them by name in the keyrings of the session, the user and both, and for all that are listed. */
const READ_KEYS = `my ($t, $n) = ("user", "verbatim-${process.pid}"); my @found = map { my $r = $_; my $k = syscall(${KEYCTL}, 10, $r, $t, $n, 0); $k > 0 ? $k : () } (-3, -4, -5);
push @found, syscall(218 + 31 * (${ADD_KEY} == 248), $t, $n, 0, 0); open(my $l, "<", "/proc/keys"); while (<$l>) { push @found, hex($1) if /^([0-9a-f]+) .*verbatim-${process.pid}/ }
for my $k (@found) { my $b = "\\0" x 64; my $got = syscall(${KEYCTL}, 11, $k, $b, 64, 0); print "out $k\n" if $got > 0 }`;
const KEY = 0x56000000 + (process.pid & 0xffff);

beforeAll(async () => {
  if (linux !== null) return;
  await new Promise<void>((done) => listener.listen(`\0${ABSTRACT}`, done));
  victim = spawn("/bin/sleep", ["600"], { stdio: "ignore" });
  const script = `my $id = shmget(${KEY}, 4096, 01600); defined $id or die "shmget: $!"; print "$id\\n"; $| = 1; sleep 600 if @ARGV; `;
  const maker = spawn("/usr/bin/perl", ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [bytes] = (await once(maker.stdout!, "data")) as [Buffer];
  segment = bytes.toString().trim();
  const add = `my ($t, $n, $v) = ("user", "verbatim-${process.pid}", "the key to the lamp room"); my @k = map { syscall(${ADD_KEY}, $t, $n, $v, length($v), $_) } (-3, -4); $| = 1; print "@k\n"; <STDIN>; syscall(${KEYCTL}, 9, $k[1], -4, 0, 0)`;
  keys = spawn("/usr/bin/perl", ["-e", add], { stdio: ["pipe", "pipe", "inherit"] });
  await once(keys.stdout!, "data");
});

afterAll(() => {
  listener.close();
  victim?.kill("SIGKILL");
  keys?.stdin?.end();
  if (segment !== "") spawn("/usr/bin/perl", ["-e", `shmctl(${segment}, 0, 0)`], { stdio: "ignore" });
  for (const folder of folders) removeCage(folder);
});

interface Escape {
  readonly name: string;
  /** Prints "out" where it got out. BASE is a folder outside, VICTIM a process outside. */
  readonly script: string;
  /** Which guards claim to stop it (default: those of class namespace, and landlock). */
  readonly classes?: readonly string[];
  /** It does harm to nobody and works where nothing stops it, which is tried as well. */
  readonly worksOutside?: true;
  readonly needsDevice?: true;
}

const WRITE = "[ -e BASE/planted ] && echo out";
const ARM = process.arch === "arm64";
/** process_vm_readv, process_vm_writev, setns, userfaultfd, bpf: their numbers differ; those of pidfd_open and pidfd_getfd do not. */
const [VM_READ, VM_WRITE, SETNS, USERFAULTFD, BPF] = ARM ? [270, 271, 268, 282, 280] : [310, 311, 308, 323, 321];
/** init_module, kexec_load, swapon, acct: with arguments that do nothing where they are allowed. */
const MACHINE = ARM
  ? "105,0,0,0,0 104,0,0,0,0 224,0,0,0,0 89,1,0,0,0"
  : "175,0,0,0,0 246,0,0,0,0 167,0,0,0,0 163,1,0,0,0";
const NAMESPACE = ["namespace"];
const EVERY = ["namespace", "landlock", "audit"];

const ESCAPES: readonly Escape[] = [
  {
    name: "another name of the root: /proc/self/root",
    script: `echo x > /proc/self/root/BASE/planted; cp /bin/true /proc/self/root/BASE/planted; ${WRITE}`,
  },
  {
    name: "the dynamic linker as the program",
    script: `for l in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do [ -e $l ] && $l /bin/cp /etc/hostname BASE/planted; done; ${WRITE}`,
  },
  {
    name: "a program that runs from memory alone",
    script: `perl -e 'my $n = "x"; my $f = syscall(319, $n, 0); open(my $o, ">&=", $f); open(my $i, "<", "/bin/cp"); binmode $_ for $i, $o; local $/; print $o <$i>; $o->flush; system("/proc/$$/fd/$f", "/etc/hostname", "BASE/planted")'; ${WRITE}`,
  },
  {
    name: "the memory of a process outside: /proc/PID/mem",
    script: `perl -e 'print "out\\n" if open(my $f, "+<", "/proc/VICTIM/mem")'`,
  },
  {
    name: "the memory of a process outside: ptrace",
    script: `perl -e 'print "out\\n" if syscall(101, 16, VICTIM, 0, 0) == 0'`,
  },
  {
    name: "the memory of a process outside: process_vm_readv and process_vm_writev",
    script: `perl -e 'my $b = "\\0" x 8; my ($l, $r) = (pack("PQ", $b, 8), pack("QQ", 0x400000, 8)); for my $n (${VM_READ}, ${VM_WRITE}) { print "out\\n" if syscall($n, VICTIM, $l, 1, $r, 1, 0) >= 0 || $!{EFAULT} }'`,
  },
  {
    name: "descriptors of a process outside: pidfd_getfd",
    script: `perl -e 'my $f = syscall(434, VICTIM, 0); print "out\\n" if $f >= 0 && syscall(438, $f, 0, 0) >= 0'`,
  },
  {
    name: "the namespaces of a process outside: setns",
    script: `perl -e 'for my $n ("user", "mnt", "net", "pid", "ipc") { open(my $f, "<", "/proc/VICTIM/ns/$n") or next; print "out $n\\n" if syscall(${SETNS}, fileno($f), 0) == 0 }'`,
  },
  {
    name: "the variables of a process outside",
    script: `cat /proc/VICTIM/environ > /dev/null && echo out`,
    classes: NAMESPACE,
  },
  { name: "a signal to a process outside", script: `kill -0 VICTIM && echo out`, classes: NAMESPACE },
  {
    name: "descriptors that were left open",
    script: `perl -e 'opendir(my $d, "/proc/self/fd"); for my $n (readdir($d)) { next if $n !~ /^[0-9]+$/ || $n < 3 || $n == fileno($d); print "out $n ", readlink("/proc/self/fd/$n"), "\\n" }'`,
    classes: EVERY,
  },
  {
    name: "keys that the kernel keeps for the user and the session (they have no namespace)",
    script: `cat > keys.pl <<'END'\n${READ_KEYS}\nEND\nperl keys.pl; unshare --user --map-root-user perl keys.pl; unshare --user perl keys.pl`,
    classes: NAMESPACE,
  },
  {
    name: "shared memory of the machine",
    script: `perl -e 'print "out\\n" if defined shmget(KEY, 4096, 0600)'`,
    classes: NAMESPACE,
  },
  {
    name: "namespaces of its own, in which everything is mounted again",
    script: `for map in "" --map-root-user; do unshare --user $map --mount sh -c 'mount -o remount,rw,bind /; mount -o remount,rw,bind BASE; umount -l BASE; echo x > BASE/planted'; done; ${WRITE}`,
  },
  {
    name: "the release agent of a control group",
    script: `for map in "" --map-root-user; do unshare --user $map --mount --cgroup sh -c 'mkdir m; for c in memory pids rdma; do mount -t cgroup -o $c none m 2>/dev/null && echo BASE/agent > m/release_agent && echo out; umount m 2>/dev/null; done'; done`,
    classes: NAMESPACE,
  },
  {
    name: "the program of the first process, overwritten: /proc/PID/exe",
    script: `for p in 1 $PPID self; do perl -e 'print "out\\n" if open(my $f, "+<", "/proc/$ARGV[0]/exe")' $p; done`,
    classes: NAMESPACE,
  },
  {
    name: "a file by its handle, past every mount",
    script: `perl -e 'opendir(my $d, "/") or die; my $h = pack("II", 8, 1) . pack("II", 2, 0); my $fd = syscall(304, fileno($d), $h, 0); print "out\\n" if $fd >= 0'`,
    classes: NAMESPACE,
  },
  {
    name: "page faults that somebody else answers (userfaultfd), and programs in the kernel (bpf)",
    script: `perl -e 'my $a = "\\0" x 120; for my $c ([${USERFAULTFD}, 1], [${USERFAULTFD}, 0], [${BPF}, 5, $a, 120]) { my $r = syscall($c->[0], @$c[1 .. $#$c]); print "out @$c\\n" unless $r < 0 && $!{ENOSYS} }'`,
    classes: NAMESPACE,
  },
  {
    name: "calls that are about the whole machine: modules, another kernel, swap, accounting",
    script: `perl -e 'for (qw(${MACHINE})) { my @c = map { $_ + 0 } split(/,/); my $r = syscall($c[0], @c[1 .. 4]); print "out @c $!\\n" unless $r < 0 && ($!{EPERM} || $!{ENOSYS}) }'`,
  },
  {
    name: "another /proc and /sys, which can be written",
    script: `for map in "" --map-root-user; do unshare --user $map --mount --net --pid --fork sh -c 'mkdir -p p s; mount -t proc p p; mount -t sysfs s s; for f in p/sys/kernel/core_pattern p/sysrq-trigger s/kernel/uevent_helper s/kernel/mm/ksm/run s/power/state; do [ -e $f ] && (: >> $f) && echo out $f; done'; done`,
    classes: NAMESPACE,
  },
  {
    name: "files that other programs read later",
    script: `for f in /etc/passwd /etc/profile /etc/hosts /etc/crontab /root/.bashrc /usr/bin/env; do [ -f $f ] && (: >> $f) 2>/dev/null && echo out $f; done`,
  },
  {
    name: "an abstract socket of the machine, where the kernel can keep it from one",
    // Some runtimes fill such a name up with NUL bytes.
    script: `perl -MSocket -e 'exit if syscall(444, 0, 0, 1) < 6; for my $n ("\\0ABSTRACT", pack("a108", "\\0ABSTRACT")) { socket(my $s, AF_UNIX, SOCK_STREAM, 0); print "out\\n" if connect($s, pack("S", AF_UNIX) . $n) }'`,
    worksOutside: true,
  },
  {
    name: "a core file, which the kernel may give to a program of the machine",
    script: `perl -e 'my $l = "\\0" x 16; syscall(PRLIMIT, 0, 4, 0, $l); my ($now, $most) = unpack("QQ", $l); print "out $now $most\\n" unless $now == 1 && $most == 1 || $most == 0'; sh -c 'kill -SEGV $$' 2>/dev/null; ls core* 2>/dev/null && echo out`,
    classes: EVERY,
  },
  {
    name: "a device by a file that is not in /dev",
    script: `(: < BASE/device) 2>/dev/null && echo out`,
    classes: NAMESPACE,
    worksOutside: true,
    needsDevice: true,
  },
  {
    name: "settings of the kernel that name a program",
    script: `for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /sys/kernel/uevent_helper; do [ -e $f ] && (cat $f > $f) 2>/dev/null && echo out; done`,
    classes: NAMESPACE,
  },
  {
    name: "a new kind of program for the whole machine: binfmt_misc",
    script: `unshare --user --map-root-user --mount sh -c 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && echo ":x:M::xx::BASE/agent:" > /proc/sys/fs/binfmt_misc/register && [ -e BASE/agent ] && echo out'; echo ':x:M::xx::/x:' > /proc/sys/fs/binfmt_misc/register && echo out`,
    classes: NAMESPACE,
  },
];

async function run(
  variant: Variant,
  script: string,
  env: Readonly<Record<string, string>> = {},
  base = makeCageFolder(),
) {
  folders.push(base);
  const [root, work] = [join(base, "root"), join(base, "work")];
  mkdirSync(join(base, "outside"), { recursive: true });
  chmodSync(join(base, "outside"), 0o777);
  const isNamespace = GUARD_FACTS[variant.guard].class === "namespace";
  const kind = variant.guard === "ns-overlay" ? "overlay" : "copy";
  const output: Buffer[] = [];
  const text = toScript(script, join(base, "outside"));
  try {
    const running = await createGuards(null, base, variant.bind).launch({
      guard: variant.guard,
      run_id: `published-${process.pid}`,
      root,
      work,
      layers: isNamespace ? [{ index: 0, kind, path: root }] : [],
      writable: isNamespace ? [] : [join(work, "cp0")],
      holes: [],
      keeps: [],
      command: ["/bin/sh", "-c", `${text}\ntrue`],
      cwd: isNamespace ? root : join(work, "cp0"),
      env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", ...env },
      network: "inherit",
      timeout_ms: 60_000,
      stdin: "null",
      onOutput: (stream, bytes) => void (stream === "stdout" && output.push(Buffer.from(bytes))),
    });
    const { exit_code } = await running.ended;
    await running.release();
    return { base, output: Buffer.concat(output).toString("utf8"), exit_code };
  } catch (thrown) {
    if (!isVerbatimError(thrown) || thrown.code !== "GUARD_START_FAILED") throw thrown;
    return thrown.message;
  }
}

function toScript(script: string, outside: string): string {
  return script
    .replaceAll("BASE", outside)
    .replaceAll("ABSTRACT", ABSTRACT)
    .replaceAll("VICTIM", String(victim.pid))
    .replaceAll("PRLIMIT", ARM ? "261" : "302")
    .replaceAll("KEY", String(KEY));
}

/** Only root makes one; it is the one that gives nothing. */
function makeDevice(base: string): boolean {
  mkdirSync(join(base, "outside"), { recursive: true });
  return spawnSync("mknod", ["-m", "666", join(base, "outside/device"), "c", "1", "3"]).status === 0;
}

describe("where nothing stops it", needs(linux), () => {
  const working = ESCAPES.filter(({ worksOutside }) => worksOutside);

  it.for(working)("$name works", ({ script, needsDevice }, { skip }) => {
    const base = makeCageFolder();
    folders.push(base);
    if (needsDevice && !makeDevice(base)) return skip("only root makes devices");
    if (!needsDevice && (landlockAbi() ?? 0) < 6) return skip("this kernel does not keep anybody from it");
    const { stdout } = spawnSync("/bin/sh", ["-c", toScript(script, join(base, "outside"))], { encoding: "utf8" });
    expect(stdout).toBe("out\n");
  });
});

describe.each(VARIANTS)("under $name", { ...needs(linux), concurrent: true }, (variant) => {
  const { class: kind } = GUARD_FACTS[variant.guard];
  const claimed = ESCAPES.filter(({ classes = ["namespace", "landlock"] }) => classes.includes(kind));

  it.for(claimed)("$name leads nowhere", async ({ script, needsDevice }, { skip }) => {
    const base = makeCageFolder();
    if (needsDevice && !makeDevice(base)) return skip("only root makes devices");
    const ran = await run(variant, script, {}, base);
    if (typeof ran === "string") return skip(`the guard does not work here: ${ran}`);
    expect(ran).toMatchObject({ output: "", exit_code: 0 });
    expect(existsSync(join(ran.base, "outside/planted"))).toBe(false);
  });

  it("variables for the command do not steer what confines it", async ({ skip }) => {
    const base = makeCageFolder();
    const [mark, library] = [join(base, "outside/planted"), join(base, "steer.pm")];
    writeFileSync(library, `package steer; open(my $f, ">", "${mark}"); 1;\n`);
    // perl loads the first of these before its script, the dynamic linker the second before any program.
    const env = {
      PERL5OPT: "-Msteer",
      PERL5LIB: base,
      LD_PRELOAD: join(base, "no.so"),
      LD_DEBUG: "libs",
      LD_DEBUG_OUTPUT: mark,
    };
    const ran = await run(variant, "echo inside; echo $PERL5LIB", env, base);
    if (typeof ran === "string") return skip(`the guard does not work here: ${ran}`);
    if (kind !== "audit") expect(existsSync(mark)).toBe(false);
    // Inside they are there: the linker tells what it does.
    expect(ran.output).toContain(`inside\n${base}\n`);
    // The linker adds the number of each process to the name.
    if (kind !== "audit") expect(readdirSync(join(base, "outside"))).toEqual([]);
  });
});
