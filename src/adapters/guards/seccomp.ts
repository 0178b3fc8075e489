/** Numbers of the kernel for one kind of processor. */
interface Calls {
  readonly audit: number;
  readonly socket: number;
  readonly socketpair: number;
  /** add_key, request_key and keyctl follow each other. */
  readonly keys: number;
  /** bpf and userfaultfd: programs in the kernel, and page faults that it waits for. Most ways into a kernel need one of them. */
  readonly inner: readonly number[];
  /** Programs of the older processor, which this one runs as well: their architecture, and the same numbers. */
  readonly older: { readonly audit: number; readonly keys: number; readonly inner: readonly number[] };
  /** Call numbers from here on belong to another interface (x32). */
  readonly other: number | null;
}

const CALLS: Readonly<Record<string, Calls>> = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    socketpair: 53,
    keys: 248,
    inner: [321, 323],
    older: { audit: 0x40000003, keys: 286, inner: [357, 374] },
    other: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    socketpair: 199,
    keys: 217,
    inner: [280, 282],
    older: { audit: 0x40000028, keys: 309, inner: [386, 388] },
    other: null,
  },
};
const IO_URING_SETUP = 425;
/** UNIX, INET, INET6, NETLINK: what a network namespace confines, and what stays inside one machine. */
const FAMILIES = [1, 2, 10, 16];

const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;
const KILL = 0x80000000;
const ALLOW = 0x7fff0000;
const refuseWith = (errno: number) => 0x00050000 | errno;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;
/** Offsets of `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const FIRST_ARGUMENT = 16;

type Step = { readonly code: number; readonly k: number; readonly jump?: string } | { readonly label: string };

/**
 * A filter of system calls for a command in namespaces, as the kernel reads it (classic BPF). The keys that the kernel keeps
 * for a user and a session belong to no namespace, so nobody gets at them, nor at what makes defects of a kernel easy to use.
 * With a network of its own: no sockets of families that a network namespace does not confine, such as AF_VSOCK, none made by
 * io_uring behind the filter's back, and no calls of another architecture. Null for processors it is not written for.
 */
export function makeCallFilter(arch: string, hasOwnNetwork: boolean): Buffer | null {
  const calls = CALLS[arch];
  if (calls === undefined) return null;
  const never = ({ keys: first, inner }: Pick<Calls, "keys" | "inner">): Step[] =>
    [first, first + 1, first + 2, ...inner].map((k) => ({ code: IF_EQUAL, k, jump: "absent" }));
  const sockets: Step[] = [
    { code: IF_EQUAL, k: IO_URING_SETUP, jump: "absent" },
    { code: IF_EQUAL, k: calls.socket, jump: "family" },
    { code: IF_EQUAL, k: calls.socketpair, jump: "family" },
  ];
  const families: Step[] = [
    { label: "family" },
    { code: LOAD, k: FIRST_ARGUMENT },
    ...FAMILIES.map((family) => ({ code: IF_EQUAL, k: family, jump: "allow" })),
    { code: RETURN, k: refuseWith(EAFNOSUPPORT) },
  ];
  const older: Step[] = [
    { code: IF_EQUAL, k: calls.older.audit, jump: "older" },
    { code: RETURN, k: KILL },
    { label: "older" },
    { code: LOAD, k: NUMBER },
    ...never(calls.older),
    { code: RETURN, k: ALLOW },
  ];
  return assemble([
    { code: LOAD, k: ARCHITECTURE },
    { code: IF_EQUAL, k: calls.audit, jump: "known" },
    ...(hasOwnNetwork ? [{ code: RETURN, k: KILL }] : older),
    { label: "known" },
    { code: LOAD, k: NUMBER },
    ...(calls.other === null ? [] : [{ code: IF_AT_LEAST, k: calls.other, jump: "absent" }]),
    ...never(calls),
    ...(hasOwnNetwork ? sockets : []),
    { code: RETURN, k: ALLOW },
    ...(hasOwnNetwork ? families : []),
    { label: "absent" },
    { code: RETURN, k: refuseWith(ENOSYS) },
    { label: "allow" },
    { code: RETURN, k: ALLOW },
  ]);
}

/** Jumps go forward to a label, or on to the next step. */
function assemble(steps: readonly Step[]): Buffer {
  const labels = new Map<string, number>();
  const code: Exclude<Step, { readonly label: string }>[] = [];
  for (const step of steps) {
    if ("label" in step) labels.set(step.label, code.length);
    else code.push(step);
  }
  const bytes = Buffer.alloc(code.length * 8);
  for (const [i, step] of code.entries()) {
    bytes.writeUInt16LE(step.code, i * 8);
    if (step.jump !== undefined) bytes.writeUInt8(labels.get(step.jump)! - i - 1, i * 8 + 2);
    bytes.writeUInt32LE(step.k >>> 0, i * 8 + 4);
  }
  return bytes;
}
