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
