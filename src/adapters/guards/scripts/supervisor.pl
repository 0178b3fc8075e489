use strict;

# The launcher of the landlock and audit guards, behind watch.pl: it forks, the child becomes the command, the parent adopts
# every orphan, whatever it did to its environment or session, and ends them all after the command. Under landlock the
# child first gives up the right to write outside the named places. Descriptor 3 is the control channel, as with the
# namespace guards. With the single argument "abi" it prints the version of landlock and ends.

my $abi = syscall(444, 0, 0, 1);
if ($ARGV[0] eq "abi") { print $abi, "\n"; exit 0 }
my (%C, @args, %env, @rw, @files, @groups);
{ open(my $f, "<", $ARGV[0]) or die "settings: $!\n"; local $/ = "\0";
  while (my $l = <$f>) { chomp $l; my ($k, $v) = split(/=/, $l, 2);
    if ($k eq "arg") { push @args, $v } elsif ($k eq "rw") { push @rw, $v } elsif ($k eq "file") { push @files, $v } elsif ($k eq "group") { push @groups, $v }
    elsif ($k eq "env") { my ($n, $t) = split(/=/, $v, 2); $env{$n} = $t } else { $C{$k} = $v } } }
shut_others(3);
my ($PRCTL, $SETSID, $CAPGET, $CAPSET) = $C{arch} eq "arm64" ? (167, 157, 90, 91) : (157, 112, 125, 126);
open(my $ctl, "+<&=", 3) or stop("control: $!");
sub say_to { syswrite($ctl, "$_[0]\n") }
stop("landlock is not there") if $C{landlock} && $abi < 1;
syscall($PRCTL, 36, 1, 0, 0, 0) == 0 or stop("subreaper: $!");
my $child = fork(); defined $child or stop("fork: $!");
if ($child == 0) { confine(); exit 125 }
my $status = watch($ctl, $child,
  sub { kill("KILL", -$child); my @d = descendants(); kill("KILL", @d) if @d },
  sub { sweep() while alive() });
my $left = 0; $left += sweep() while alive();
say_to("EXIT " . ($status >> 8) . " " . ($status & 127) . " $left");
# Until it is heard: a signal that the tool sends to an end that is closed would break the channel with EXIT unread.
while (1) { my $got = sysread($ctl, my $line, 64); next if !defined $got && $!{EINTR}; last if !$got || $line =~ /DONE/ }
exit 0;

# One that looks dead counts too: its first thread may have ended and others go on.
sub descendants { my %kids; opendir(my $d, "/proc") or return ();
  for my $p (grep { /^[0-9]+$/ } readdir($d)) { open(my $f, "<", "/proc/$p/stat") or next; my $t = <$f>; next unless defined $t;
    $t =~ s/^.*\) //s; my ($state, $pp) = split(/ /, $t); push @{ $kids{$pp} }, $p }
  my @all; my @todo = ($$); while (@todo) { my $p = pop @todo; for my $k (@{ $kids{$p} || [] }) { push @all, $k; push @todo, $k } } @all }
sub sweep { my @d = descendants(); kill("KILL", @d) if @d; 1 while waitpid(-1, 1) > 0; scalar @d }
sub alive { 1 while waitpid(-1, 1) > 0; my @d = descendants(); scalar @d }

sub rule { my ($set, $path, $rights) = @_; sysopen(my $f, $path, 010000000) or return;
  my $attr = pack("Ql", $rights, fileno($f)); syscall(445, $set, 1, $attr, 0) == 0 or stop("rule $path: $!") }

# Everything may be read but disks and terminals: another terminal would give away what is typed there.
sub readable { my ($set) = @_; opendir(my $d, "/") or stop("/: $!");
  for my $n (readdir($d)) { rule($set, "/$n", 1 << 2) unless $n eq "dev" || $n eq "." || $n eq ".." } devices($set, "/dev") }
sub devices { my ($set, $at) = @_; opendir(my $d, $at) or return;
  for my $n (readdir($d)) { my $p = "$at/$n"; next if $n eq "." || $n eq ".." || -l $p || -b $p || $n =~ /^(tty.+|pts|ptmx|vcs.*|console|hvc.*)$/;
    if (-d $p && $n !~ /^(shm|mqueue|hugepages)$/) { devices($set, $p) } else { rule($set, $p, 1 << 2) } } }

# Of root's rights those stay that files of other owners in the domains need; none of them makes devices or new owners.
sub drop { my $keep = (1 << 1) | (1 << 3) | (1 << 4);
  for my $n (0 .. 63) { next if ($keep >> $n) & 1; last if syscall($PRCTL, 24, $n, 0, 0, 0) != 0 && $!{EINVAL} }
  syscall($PRCTL, 47, 4, 0, 0, 0); my ($head, $now) = (pack("LL", 0x20080522, 0), "\0" x 24);
  syscall($CAPGET, $head, $now) == 0 or stop("capabilities: $!"); my @c = unpack("L6", $now);
  my $set = pack("L6", $c[0] & $keep, $c[1] & $keep, 0, 0, 0, 0); syscall($CAPSET, $head, $set) == 0 or stop("capabilities: $!") }

sub confine {
  join_groups(@groups); syscall($SETSID); if ($C{tty}) { open(STDIN, "+<", $C{tty}) or stop("terminal: $!") }
  chdir($C{cwd}) or stop("cwd: $!");
  restrict() if $C{landlock};
  %ENV = %env;
  say_to("READY");
  fcntl($ctl, 2, 1) or stop("control: $!");
  if ($C{tty}) { open(STDOUT, ">&", \*STDIN) or stop("terminal: $!"); if ($C{ttyerr}) { open(STDERR, ">&", \*STDIN) or exit 125 } }
  limit_files($C{arch} eq "arm64", $C{fsize}); no_core($C{arch} eq "arm64");
  exec { $args[0] } @args;
  stop("exec: $!");
}

sub restrict {
  my $file = (1 << 1) | (1 << 2); $file |= 1 << 14 if $abi >= 3; $file |= 1 << 15 if $abi >= 5;
  my $rights = $file; $rights |= 1 << $_ for (4 .. 12); $rights |= 1 << 13 if $abi >= 2;
  # Neither signals nor sockets without a path lead out.
  my $attr = $abi >= 6 ? pack("QQQ", $rights, 0, 3) : pack("Q", $rights);
  my $set = syscall(444, $attr, length($attr), 0); $set >= 0 or stop("ruleset: $!");
  # No device is made anywhere, in the domains neither.
  # A file takes only the rights of files.
  rule($set, $_, -d $_ ? $rights & ~(1 << 6) & ~(1 << 11) : $file) for @rw;
  for my $f (@files) { rule($set, $f, $file) if -e $f }
  readable($set); drop();
  syscall($PRCTL, 38, 1, 0, 0, 0) == 0 or stop("no_new_privs: $!");
  syscall(446, $set, 0) == 0 or stop("restrict: $!");
  if (open(my $f, ">", "$C{probe}/.verbatim-guard-probe")) { unlink("$C{probe}/.verbatim-guard-probe"); stop("$C{probe} can still be written") }
}
