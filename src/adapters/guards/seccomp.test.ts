import { describe, expect, it } from "vitest";
import { makeCallFilter } from "./seccomp.ts";

// Guards: what the filter of system calls answers, on both processors, by a reading of its bytes that knows nothing of how
// they were made. The kernel of the other processor could not be asked.

const KILL = 0x80000000;
const ALLOW = 0x7fff0000;
const ENOSYS = 0x00050000 + 38;
const EAFNOSUPPORT = 0x00050000 + 97;

interface Call {
  readonly arch: number;
  readonly nr: number;
  readonly args?: readonly bigint[];
}

/** `struct seccomp_data`: number, architecture, instruction pointer, six arguments. */
function toData({ arch, nr, args = [] }: Call): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(nr >>> 0, 0);
  data.writeUInt32LE(arch >>> 0, 4);
  for (const [i, value] of args.entries()) data.writeBigUInt64LE(value, 16 + i * 8);
  return data;
}

/** Classic BPF as linux/filter.h has it: only what a seccomp filter may use, and nothing is guessed. */
function interpret(code: Buffer, data: Buffer): number {
  if (code.length % 8 !== 0) throw new Error("half an instruction");
  let accumulator = 0;
  for (let at = 0; at < code.length / 8; at++) {
    const op = code.readUInt16LE(at * 8);
    const [yes, no] = [code.readUInt8(at * 8 + 2), code.readUInt8(at * 8 + 3)];
    const k = code.readUInt32LE(at * 8 + 4);
    const jump = (is: boolean) => {
      at += is ? yes : no;
    };
    if (op === 0x20) {
      if (k % 4 !== 0 || k > 60) throw new Error(`load of ${k}`);
      accumulator = data.readUInt32LE(k);
    } else if (op === 0x15) jump(accumulator === k);
    else if (op === 0x35) jump(accumulator >= k);
    else if (op === 0x25) jump(accumulator > k);
    else if (op === 0x45) jump((accumulator & k) >>> 0 !== 0);
    else if (op === 0x06) return k;
    else throw new Error(`instruction ${op} at ${at}`);
  }
  throw new Error("the filter ends without an answer");
}

const PROCESSORS = [
  { name: "x64", arch: 0xc000003e, other: 0xc00000b7, socket: 41, socketpair: 53, read: 0, execve: 59, keys: 248 },
  {
    name: "arm64",
    arch: 0xc00000b7,
    other: 0xc000003e,
    socket: 198,
    socketpair: 199,
    read: 63,
    execve: 221,
    keys: 217,
  },
] as const;

const FAMILIES = { UNIX: 1, INET: 2, INET6: 10, NETLINK: 16 } as const;
const OTHERS = {
  UNSPEC: 0,
  AX25: 3,
  PACKET: 17,
  ALG: 38,
  BLUETOOTH: 31,
  VSOCK: 40,
  XDP: 44,
  TIPC: 30,
  RDS: 21,
} as const;

describe.each(PROCESSORS)("the filter of $name", ({ name, arch, other, socket, socketpair, read, execve, keys }) => {
  const code = makeCallFilter(name, true)!;
  const answer = (nr: number, ...args: (bigint | number)[]) =>
    interpret(code, toData({ arch, nr, args: args.map(BigInt) }));

  it("lets every ordinary call through", () => {
    const ordinary = [read, execve, 1, 300, 424, 426, 500];
    expect(ordinary.map((nr) => answer(nr, 40n, 2n))).toEqual(ordinary.map(() => ALLOW));
  });

  it.each(Object.entries(FAMILIES))("allows sockets of %s", (_name, family) => {
    expect([answer(socket, family, 1, 0), answer(socketpair, family, 1, 0)]).toEqual([ALLOW, ALLOW]);
  });

  it.each(Object.entries(OTHERS))("refuses sockets of %s", (_name, family) => {
    expect([answer(socket, family, 1, 0), answer(socketpair, family, 1, 0)]).toEqual([EAFNOSUPPORT, EAFNOSUPPORT]);
  });

  it("looks at the half of the family that the kernel looks at: what is above it hides nothing", () => {
    expect(answer(socket, (1n << 32n) | 40n)).toBe(EAFNOSUPPORT);
    expect(answer(socket, (7n << 32n) | 2n)).toBe(ALLOW);
  });

  it("keeps the kernel's keys out of reach, whatever the network, of programs of the older processor too", () => {
    const inherit = makeCallFilter(name, false)!;
    const [older, olderKeys] = name === "x64" ? [0x40000003, 286] : [0x40000028, 309];
    for (const more of [0, 1, 2]) {
      expect(answer(keys + more, 10n)).toBe(ENOSYS);
      expect(interpret(inherit, toData({ arch, nr: keys + more }))).toBe(ENOSYS);
      expect(interpret(inherit, toData({ arch: older, nr: olderKeys + more }))).toBe(ENOSYS);
    }
    for (const nr of [read, execve, socket, 425, keys - 1, keys + 3]) {
      expect(interpret(inherit, toData({ arch, nr, args: [40n] }))).toBe(ALLOW);
    }
    expect(interpret(inherit, toData({ arch: older, nr: 3 }))).toBe(ALLOW);
    expect(interpret(inherit, toData({ arch: 0xc00000f3, nr: 3 }))).toBe(KILL);
  });

  it("has neither programs in the kernel nor page faults that it waits for, of either processor", () => {
    const inherit = makeCallFilter(name, false)!;
    const [own, older, ofOlder] =
      name === "x64" ? [[321, 323], 0x40000003, [357, 374]] : [[280, 282], 0x40000028, [386, 388]];
    for (const nr of own) expect([answer(nr), interpret(inherit, toData({ arch, nr }))]).toEqual([ENOSYS, ENOSYS]);
    for (const nr of ofOlder) expect(interpret(inherit, toData({ arch: older, nr }))).toBe(ENOSYS);
    // The calls beside them are others.
    for (const nr of own) expect(interpret(inherit, toData({ arch, nr: nr + 1 }))).toBe(ALLOW);
  });

  it("has no io_uring", () => {
    expect(answer(425)).toBe(ENOSYS);
  });

  it("kills calls of any other architecture, whatever their number", () => {
    for (const wrong of [other, 0x40000003, 0x40000028, 0, 0xffffffff]) {
      for (const nr of [socket, read, 425]) {
        expect(interpret(code, toData({ arch: wrong, nr, args: [2n] }))).toBe(KILL);
      }
    }
  });

  it("fits what the kernel takes", () => {
    expect(code.length / 8).toBeLessThan(4096);
  });
});

it("refuses the second numbering of calls that x64 has", () => {
  const code = makeCallFilter("x64", true)!;
  for (const nr of [0x40000000, 0x40000029, 0x7fffffff, 0xffffffff]) {
    expect(interpret(code, toData({ arch: 0xc000003e, nr, args: [40n] }))).toBe(ENOSYS);
  }
});

it("is not there for processors that it was not written for", () => {
  expect(makeCallFilter("riscv64", true)).toBeNull();
  expect(makeCallFilter("riscv64", false)).toBeNull();
});
