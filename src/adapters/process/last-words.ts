import { randomBytes } from "node:crypto";

/**
 * Runs a command and leaves the terminal only when everything the command said was read. A terminal whose session ends
 * throws away what nobody has read yet, so the leader of the session is this script and not the command: when the
 * command has ended, it writes a mark behind its last words and waits until the reader answers.
 * Arguments: the mark, the answer, the command. It ends as the command did.
 */
const KEEP_TERMINAL = String.raw`my ($mark, $answer, @c) = @ARGV;
my @signals = ("INT", "TERM", "QUIT", "HUP", "TSTP"); my ($child, @early);
# A signal to the group reaches the command by itself, unless it has a group of its own; a hangup reaches only the leader.
for my $s (@signals) { $SIG{$s} = sub { if (!$child) { push @early, $s } elsif ($s eq "HUP" || getpgrp($child) != getpgrp()) { kill($s, $child) } } }
my $known = @early; $child = fork(); exit 126 if !defined $child;
if (!$child) { $SIG{$_} = "DEFAULT" for @signals; kill($_, $$) for @early;
  delete $ENV{PERL_BADLANG}; for (keys %ENV) { $ENV{$1} = delete $ENV{$_} if /^VERBATIM_KEPT_(.*)/ }
  exec { $c[0] } @c; print STDERR "$c[0]: $!\n"; exit 127 }
kill($_, $child) for @early[$known .. $#early];
my $got; do { $got = waitpid($child, 0) } until $got == $child; my $status = $?;
$SIG{TTOU} = "IGNORE"; $SIG{ALRM} = sub { leave() }; alarm(30);
eval { require POSIX; POSIX::tcsetpgrp(0, getpgrp()); my $t = POSIX::Termios->new; $t->getattr(0);
  $t->setlflag($t->getlflag & ~(POSIX::ECHO() | POSIX::ICANON() | POSIX::ISIG())); $t->setcc(POSIX::VMIN(), 1); $t->setcc(POSIX::VTIME(), 0);
  $t->setattr(0, POSIX::TCSANOW()); POSIX::tcflush(0, POSIX::TCIFLUSH()) };
my $out = "\0$mark\0"; while (length $out) { my $n = syswrite(STDOUT, $out); if (!defined $n) { next if $!{EINTR}; last } $out = substr($out, $n) }
my $heard = ""; while (index($heard, $answer) < 0) { my $n = sysread(STDIN, $heard, 256, length($heard)); next if !defined $n && $!{EINTR}; last if !$n }
leave();
sub leave { my $signal = $status & 127; if ($signal) { my @names = split(" ", do { require Config; $Config::Config{sig_name} }); $SIG{$names[$signal]} = "DEFAULT" if $names[$signal] !~ /KILL|STOP/; kill($signal, $$); sleep(1) } exit($status >> 8) }`;

/** What would change how perl itself runs. It is put aside, and the command gets it back. */
const OF_PERL = ["PERL5OPT", "PERL5LIB", "PERL5DB", "PERLIO", "PERL_UNICODE", "PERL_BADLANG"];

/** The environment of a command as the script that keeps its terminal must get it. */
export function hideFromPerl(env: Readonly<Record<string, string>>): Record<string, string> {
  const shown: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(env)) {
    shown[OF_PERL.includes(name) ? `VERBATIM_KEPT_${name}` : name] = value;
  }
  shown["PERL_BADLANG"] = "0";
  return shown;
}

/** Finds the mark behind the last words of a command, and keeps it out of what the command said. */
export class LastWords {
  readonly #mark: Buffer;
  readonly #answer = randomBytes(16).toString("hex");
  #held: Buffer = Buffer.alloc(0);
  #isHeard = false;

  constructor() {
    this.#mark = Buffer.from(`\0${randomBytes(16).toString("hex")}\0`);
  }

  /** The command that keeps the terminal until its last words were heard. */
  wrap(perl: string, command: readonly string[]): string[] {
    return [perl, "-e", KEEP_TERMINAL, this.#mark.toString("latin1").slice(1, -1), this.#answer, ...command];
  }

  /** What of these bytes the command said; `reply` is given the answer when the mark is among them. */
  hear(bytes: Buffer, reply: (answer: string) => void): Buffer {
    if (this.#isHeard) return bytes;
    const all = Buffer.concat([this.#held, bytes]);
    const at = all.indexOf(this.#mark);
    if (at !== -1) {
      this.#isHeard = true;
      this.#held = Buffer.alloc(0);
      reply(`${this.#answer}\n`);
      return Buffer.concat([all.subarray(0, at), all.subarray(at + this.#mark.length)]);
    }
    const begun = this.#begun(all);
    this.#held = all.subarray(all.length - begun);
    return all.subarray(0, all.length - begun);
  }

  /** What was held back because it might have become the mark. */
  rest(): Buffer {
    const rest = this.#held;
    this.#held = Buffer.alloc(0);
    return rest;
  }

  /** How many bytes at the end may be the beginning of the mark. */
  #begun(bytes: Buffer): number {
    for (let count = Math.min(this.#mark.length - 1, bytes.length); count > 0; count--) {
      if (bytes.subarray(bytes.length - count).equals(this.#mark.subarray(0, count))) return count;
    }
    return 0;
  }
}
