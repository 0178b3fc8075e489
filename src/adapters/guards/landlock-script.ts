/**
 * The launcher of the landlock guard, run by perl: it forks, the child gives up the right to write outside the named
 * places and becomes the command, the parent adopts every orphan and ends them all after the command. Descriptor 3 is
 * the control channel, as with the namespace guards. With the single argument `abi` it prints the version and ends.
 */
export const LANDLOCK_SCRIPT = String.raw`use strict;
my $abi = syscall(444, 0, 0, 1);
if ($ARGV[0] eq "abi") { print $abi, "\n"; exit 0 }
my (%C, @args, %env, @rw, @files);
{ open(my $f, "<", $ARGV[0]) or die "settings: $!\n"; local $/ = "\0";
  while (my $l = <$f>) { chomp $l; my ($k, $v) = split(/=/, $l, 2);
    if ($k eq "arg") { push @args, $v } elsif ($k eq "rw") { push @rw, $v } elsif ($k eq "file") { push @files, $v }
    elsif ($k eq "env") { my ($n, $t) = split(/=/, $v, 2); $env{$n} = $t } else { $C{$k} = $v } } }
my ($PRCTL, $SETSID) = $C{arch} eq "arm64" ? (167, 157) : (157, 112);
sub stop { print STDERR "guard: $_[0]\n"; exit 125 }
open(my $ctl, "+<&=", 3) or stop("control: $!");
sub say_to { syswrite($ctl, "$_[0]\n") }
stop("landlock is not there") if $abi < 1;
syscall($PRCTL, 1, 9, 0, 0, 0); syscall($PRCTL, 36, 1, 0, 0, 0);
my $child = fork(); defined $child or stop("fork: $!");
if ($child == 0) { confine(); exit 125 }
my $status = watch($child);
my $left = 0; $left += sweep() while alive();
say_to("EXIT " . ($status >> 8) . " " . ($status & 127) . " $left");
exit 0;

sub watch { my ($pid) = @_; local $SIG{CHLD} = sub { };
  while (1) {
    while ((my $p = waitpid(-1, 1)) > 0) { return $? if $p == $pid }
    my $r = ""; vec($r, 3, 1) = 1;
    next unless select($r, undef, undef, 0.05) > 0;
    my $got = sysread($ctl, my $line, 64);
    if (!$got) { next if !defined $got && $!{EINTR}; sweep() while alive(); exit 125 }
    kill("TERM", -$pid) if $line =~ /TERM/; kill("INT", -$pid) if $line =~ /INT/; if ($line =~ /KILL/) { kill("KILL", -$pid); my @d = descendants(); kill("KILL", @d) if @d }
  } }

sub descendants { my %kids; opendir(my $d, "/proc") or return ();
  for my $p (grep { /^[0-9]+$/ } readdir($d)) { open(my $f, "<", "/proc/$p/stat") or next; my $t = <$f>; next unless defined $t;
    $t =~ s/^.*\) //s; my ($state, $pp) = split(/ /, $t); push @{ $kids{$pp} }, $p if $state ne "Z" }
  my @all; my @todo = ($$); while (@todo) { my $p = pop @todo; for my $k (@{ $kids{$p} || [] }) { push @all, $k; push @todo, $k } } @all }
sub sweep { my @d = descendants(); kill("KILL", @d) if @d; 1 while waitpid(-1, 1) > 0; scalar @d }
sub alive { 1 while waitpid(-1, 1) > 0; my @d = descendants(); scalar @d }

sub rule { my ($set, $path, $rights) = @_; sysopen(my $f, $path, 010000000) or return;
  my $attr = pack("Ql", $rights, fileno($f)); syscall(445, $set, 1, $attr, 0) == 0 or stop("rule $path: $!") }

sub confine {
  syscall($SETSID); if ($C{tty}) { open(STDIN, "+<", $C{tty}) or stop("terminal: $!") }
  my $rights = 1 << 1; $rights |= 1 << $_ for (4 .. 12); $rights |= 1 << 13 if $abi >= 2; $rights |= 1 << 14 if $abi >= 3;
  my $attr = $abi >= 6 ? pack("QQQ", $rights, 0, 2) : pack("Q", $rights);
  my $set = syscall(444, $attr, length($attr), 0); $set >= 0 or stop("ruleset: $!");
  rule($set, $_, $rights) for @rw;
  for my $f (@files) { rule($set, $f, (1 << 1) | ($abi >= 3 ? 1 << 14 : 0)) if -e $f }
  chdir($C{cwd}) or stop("cwd: $!");
  syscall($PRCTL, 38, 1, 0, 0, 0) == 0 or stop("no_new_privs: $!");
  syscall(446, $set, 0) == 0 or stop("restrict: $!");
  if (open(my $f, ">", "$C{probe}/.verbatim-guard-probe")) { unlink("$C{probe}/.verbatim-guard-probe"); stop("$C{probe} can still be written") }
  %ENV = %env;
  say_to("READY");
  fcntl($ctl, 2, 1) or stop("control: $!");
  if ($C{tty}) { open(STDOUT, ">&", \*STDIN) or stop("terminal: $!"); if ($C{ttyerr}) { open(STDERR, ">&", \*STDIN) or exit 125 } }
  exec { $args[0] } @args;
  stop("exec: $!");
}
`;
