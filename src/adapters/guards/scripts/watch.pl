use strict;

# Both launchers of the guards begin with this.

# What whoever started the tool left open is not the command's: a socket in it would be a way out.
sub shut_others { my ($most) = @_; opendir(my $d, "/proc/self/fd") or return; my @open = grep { /^[0-9]+$/ && $_ > $most && $_ != fileno($d) } readdir($d); closedir($d);
  for my $n (@open) { my $f; open($f, "<&=", $n) and close($f) } }

sub stop { print STDERR "guard: $_[0]\n"; exit 125 }

# Waits for the command and hears the tool on the control channel meanwhile: TERM and INT go to the command's group, KILL is
# what $kill does. When the other end closes, the tool has died and the command must too: $end sees to that. $other hears of
# every other process that ended before the command did.
sub watch { my ($ctl, $pid, $kill, $end, $other) = @_; local $SIG{CHLD} = sub { };
  while (1) {
    while ((my $p = waitpid(-1, 1)) > 0) { return $? if $p == $pid; $other->($p) if $other }
    my $r = ""; vec($r, fileno($ctl), 1) = 1;
    next unless select($r, undef, undef, 0.05) > 0;
    my $got = sysread($ctl, my $line, 64);
    if (!$got) { next if !defined $got && $!{EINTR}; $end->(); exit 125 }
    kill("TERM", -$pid) if $line =~ /TERM/; kill("INT", -$pid) if $line =~ /INT/; $kill->() if $line =~ /KILL/;
  } }

# Before anything else of the command happens: whoever writes 0 joins the control group himself.
sub join_groups { for my $p (@_) { open(my $f, ">", $p) or stop("group: $!"); syswrite($f, "0") or stop("group: $!"); close($f) } }

# No file gets larger. Last, because the launcher itself writes nothing any more.
sub limit_files { my ($arm, $n) = @_; return unless $n; my $l = pack("QQ", $n, $n); syscall($arm ? 261 : 302, 0, 1, $l, 0) == 0 or stop("file size: $!") }

# A core file would go to a program of the machine where the kernel is told to give it to one: only a limit of one byte keeps
# it from that. Whoever may not have any keeps a limit of none.
sub no_core { my ($arm) = @_; my $l = pack("QQ", 1, 1); syscall($arm ? 261 : 302, 0, 4, $l, 0) == 0 or $!{EPERM} or stop("core: $!") }

# Sockets without a path that were made outside are out of reach, where the kernel can do that (6.12). Nothing else is confined
# by this, mounts in namespaces of the command's own neither.
sub no_abstract { return if syscall(444, 0, 0, 1) < 6; my $attr = pack("QQQ", 0, 0, 1); my $set = syscall(444, $attr, length($attr), 0);
  $set >= 0 && syscall(446, $set, 0) == 0 or stop("sockets: $!") }
