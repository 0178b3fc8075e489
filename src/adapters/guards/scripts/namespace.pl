use strict;

# The launcher of the namespace guards, behind watch.pl: the first process of new mount, pid, ipc and uts namespaces. Its
# settings come as NUL-separated key=value pairs from a file; descriptor 3 is the control channel: it says READY and EXIT,
# and hears TERM, INT, KILL and DONE. Text only: nothing is compiled and nothing has to be installed.

my %C; my (@reach, @layers, @holes, @keeps, @args, %env, @outer, @hide, @show, @mask, @groups, @put);
{ open(my $f, "<", $ARGV[0]) or die "settings: $!\n"; local $/ = "\0";
  while (my $l = <$f>) { chomp $l; my ($k, $v) = split(/=/, $l, 2);
    if ($k eq "layer") { push @layers, [split(/:/, $v, 3)] } elsif ($k eq "hole") { push @holes, [split(/:/, $v, 2)] }
    elsif ($k eq "keep") { push @keeps, [split(/:/, $v, 2)] } elsif ($k eq "arg") { push @args, $v }
    elsif ($k eq "outer") { push @outer, $v } elsif ($k eq "reach") { push @reach, $v } elsif ($k eq "hide") { push @hide, $v } elsif ($k eq "show") { push @show, $v } elsif ($k eq "mask") { push @mask, $v } elsif ($k eq "group") { push @groups, $v } elsif ($k eq "put") { push @put, $v }
    elsif ($k eq "env") { my ($n, $t) = split(/=/, $v, 2); $env{$n} = $t } else { $C{$k} = $v } } }
shut_others(3);
my $arm = $C{arch} eq "arm64";
my ($MOUNT, $UMOUNT, $UNSHARE, $SETSID) = $arm ? (40, 39, 97, 157) : (165, 166, 272, 112);
my ($RDONLY, $NOSUID, $NODEV, $NOEXEC, $REMOUNT, $BIND, $REC, $PRIVATE) = (1, 2, 4, 8, 32, 4096, 16384, 262144);
sub mnt { my ($s, $t, $f, $fl, $d) = @_; $s = "$s"; $t = "$t"; $f = $f ? "$f" : 0; $d = $d ? "$d" : 0;
  return 1 if syscall($MOUNT, $s, $t, $f, $fl + 0, $d) == 0; $_[5] ? 0 : stop("mount $t: $!") }
sub folders { my $p = ""; for my $n (split(m{/}, substr($_[0], 1))) { $p .= "/$n"; mkdir($p, 0755) unless -d $p } }
open(my $ctl, "+<&=", 3) or stop("control: $!");
sub say_to { syswrite($ctl, "$_[0]\n") }
chdir($C{work}) or stop("work: $!");
my $size = $C{tmpsize} ? ",size=$C{tmpsize}" : "";
my %kept;
for my $l (@layers) { mnt($l->[2], "lo$l->[0]", 0, $BIND) }
for my $l (sort { length($a->[2]) <=> length($b->[2]) } @layers) {
  my ($n, $kind, $path) = @$l; $kept{$path} = 1;
  if ($kind eq "copy") { mnt("cp$n", $path, 0, $BIND); next }
  my $at = "";
  if ($kind eq "home") { mnt("tmpfs", "hm$n", "tmpfs", $NOSUID | $NODEV, "mode=0700$size"); mkdir("hm$n/up$n"); mkdir("hm$n/wk$n"); $at = "hm$n/" }
  my $x = $C{mode} eq "root" ? "redirect_dir=on" : "userxattr";
  mnt("overlay", $path, "overlay", $NODEV, "lowerdir=lo$n,upperdir=" . $at . "up$n,workdir=" . $at . "wk$n,$x");
}
# What the command finds instead of what the tree has, written through its layer: what has to go comes first.
for my $w (@put) { my ($how, $from, $path) = split(/:/, $w, 3); put_at($how, $from, $layers[0][2], split(m{/}, $path)) }
# Files that the command finds empty: made anew in the layer, so that neither a link nor another name leads to the old one.
for my $m (@mask) { my @s = lstat($m); next if !@s; -f _ or stop("mask $m: not a file");
  unlink($m) or stop("mask $m: $!"); sysopen(my $f, $m, 0301, 0600) or stop("mask $m: $!"); close($f);
  chmod($s[2] & 0777, $m); chown($s[4], $s[5], $m) if $C{mode} eq "root"; utime($s[8], $s[9], $m) }
if ($C{new} && open(my $from, "<", $C{new})) { local $/; my $all = <$from>; my @s = lstat($C{old}); unlink($C{old});
  sysopen(my $to, $C{old}, 0301, 0600) or stop("$C{old}: $!"); syswrite($to, $all) == length($all) or stop("$C{old}: $!"); close($to);
  chmod($s[2] & 0777, $C{old}); chown($s[4], $s[5], $C{old}) if $C{mode} eq "root" }
# Work inside an overlaid home: the real folder, where we stand, comes back over its private copy and is sealed later.
for my $l (@layers) { mnt(".", $C{work}, 0, $BIND | $REC) if $l->[1] eq "home" && index($C{work}, "$l->[2]/") == 0 }
for my $h (@holes) { my ($from, $to) = @$h; mnt($from, $to, 0, $BIND | $REC) if -e $to }
for my $k (@keeps) { my ($from, $to) = @$k; if (-e $to) { mnt($from, $to, 0, $BIND | $REC); $kept{$to} = 1 } }
my $relay = $C{net} eq "inherit" ? 0 : open_ways();

my $child = fork(); defined $child or stop("fork: $!");
if ($child == 0) { confine(); exit 125 }
# Ended children are seen in the order in which they were started: a relay that went first is seen first, however late it is.
my $status = watch($ctl, $child, (sub { kill("KILL", -1) }) x 2, sub { say_to("LOST") if $_[0] == $relay });
if ($relay) { kill("KILL", $relay); waitpid($relay, 0) }
my $left = 0;
if (opendir(my $d, "/proc")) { $left = grep { /^[0-9]+$/ && $_ > 1 } readdir($d) }
kill("KILL", -1); 1 while waitpid(-1, 0) > 0;
say_to("EXIT " . ($status >> 8) . " " . ($status & 127) . " $left");
while (1) { my $got = sysread($ctl, my $line, 64); next if !defined $got && $!{EINTR}; last if !$got || $line =~ /DONE/ }
exit 0;

# A link or a file in the place of a folder is replaced, never followed: what is outside the layer is not reached.
sub put_at { my ($how, $from, $at, @names) = @_; my $top = $at; my $last = pop(@names);
  for my $n (@names) { $at .= "/$n"; next if !-l $at && -d _; return if $how eq "gone"; gone($at); mkdir($at, 0777) or stop("write $at: $!"); own($at) }
  my $to = "$at/$last";
  if ($how eq "gone") { if (!-l $to && -d _) { rmdir($to) } else { gone($to) } while ($at ne $top && rmdir($at)) { $at =~ s{/[^/]*$}{} } return }
  gone($to); open(my $in, "<", $from) or stop("write $from: $!");
  if ($how eq "link") { local $/; my $target = <$in>; symlink($target, $to) or stop("write $to: $!"); return }
  sysopen(my $out, $to, 0301, $how eq "exec" ? 0777 : 0666) or stop("write $to: $!");
  while (my $got = sysread($in, my $part, 65536)) { syswrite($out, $part) == $got or stop("write $to: $!") } close($out) or stop("write $to: $!"); own($to) }
sub gone { my ($p) = @_;
  if (!-l $p && -d _) { opendir(my $d, $p) or stop("write $p: $!"); for my $n (grep { $_ ne "." && $_ ne ".." } readdir($d)) { gone("$p/$n") } rmdir($p) or stop("write $p: $!") }
  elsif (-l $p || -e _) { unlink($p) or stop("write $p: $!") } }
sub own { return if $C{mode} ne "root"; my @s = lstat($_[0] =~ s{/[^/]*$}{}r); chown($s[4], $s[5], $_[0]) }

sub rebind { my ($dir, $new) = @_;
  for my $p (@outer) { next unless index($p, "$dir/") == 0 && -e $p; my $to = $new . substr($p, length($dir));
    if (-d $p) { folders($to) } else { folders($to =~ s{/[^/]*$}{}r); if (open(my $f, ">>", $to)) { close($f) } } mnt($p, $to, 0, $BIND | $REC) }
  mnt($new, $dir, 0, $BIND | $REC) }

# Empty folders and an empty file take the place of what is hidden; what stays of it is held open and bound into it.
# From the outside in, so that a place inside one that stays can be hidden again.
sub cover { my %fd = %{ $_[0] }; my %was = map { $_ => 1 } @{ $_[1] }; my @covers; my %hide = map { $_ => 1 } @hide;
  for my $p (sort { length($a) <=> length($b) } (keys %hide, keys %fd)) {
    if ($hide{$p}) { folders($p) if $was{$p} && !grep { index($p, "$_/") == 0 } @hide; next unless -e $p;
      if (-d $p) { mnt("tmpfs", $p, "tmpfs", $NOSUID | $NODEV, "mode=0755") } else { mnt("/proc/self/fd/" . fileno($_[2]), $p, 0, $BIND) } push @covers, $p; next }
    if (-d $fd{$p}) { folders($p) } else { folders($p =~ s{/[^/]*$}{}r); open(my $f, ">>", $p) or stop("show $p: $!"); close($f) }
    mnt("/proc/self/fd/" . fileno($fd{$p}), $p, 0, $BIND | $REC) }
  for my $p (reverse @covers) { mnt("none", $p, 0, $REMOUNT | $BIND | $RDONLY | $NOSUID | $NODEV, 0, 1) or stop("hide $p: $!") } }
# The temporary folders are one folder with three names: what is brought into it is there three times.
sub other_names { my ($p) = @_; for my $d ("/tmp", "/var/tmp") { next unless index($p, "$d/") == 0; my $rest = substr($p, length($d));
    return grep { $_ ne $p } map { "$_$rest" } ("/tmp", "/var/tmp", "$C{work}/tmp") } () }
sub hold { my %fd;
  for my $p (@show) { next unless grep { index($p, "$_/") == 0 } @hide; my $f; $fd{$p} = $f if sysopen($f, $p, 010000000) }
  \%fd }

# A network of its own: loopback, and what was opened besides.
sub open_ways { loopback(); return 0 unless @reach; my %r = (arm => $arm, ports => [], exact => {}, wild => []);
  for my $way (@reach) { my ($k, $v) = split(/:/, $way, 2); if ($k eq "port") { push @{ $r{ports} }, $v } elsif ($k eq "wild") { push @{ $r{wild} }, $v } elsif ($k eq "name") { $r{exact}{$v} = 1 } else { $r{$k} = $v } }
  $r{leave} = sub { close($ctl); open(STDIN, "<", "/dev/null"); open(STDOUT, ">", "/dev/null"); open(STDERR, ">", "/dev/null") };
  start_relay(%r) }

# Names come from the relay. Where there is no such file, that is what the C library asks anyway.
sub own_names { my %fd = @_;
  for my $n (sort keys %fd) { next unless -f "/etc/$n"; mnt("/proc/self/fd/" . fileno($fd{$n}), "/etc/$n", 0, $BIND); mnt("none", "/etc/$n", 0, $REMOUNT | $BIND | $RDONLY | $NOSUID | $NODEV, 0, 1) } }

# The last step before the command: from here on the kernel's keys are out of reach, and in a network of its own sockets are of
# families that a network namespace confines.
sub filter_calls { my $code = pack("H*", $C{filter}); my $prog = pack("S x6 P", length($code) / 8, $code);
  syscall($arm ? 167 : 157, 22, 2, $prog) == 0 or stop("filter: $!") }

sub confine {
  join_groups(@groups); syscall($SETSID); if ($C{tty}) { open(STDIN, "+<", $C{tty}) or stop("terminal: $!") }
  syscall($UNSHARE, 0x20000) == 0 or stop("unshare: $!");
  open(my $mi, "<", "/proc/self/mountinfo") or stop("mountinfo: $!"); my @mounts = <$mi>; close($mi);
  for my $line (@mounts) { my @f = split(/ /, $line); my $at = $f[4]; $at =~ s/\\([0-7]{3})/chr(oct($1))/ge;
    next if $kept{$at} || ($C{mode} ne "root" && $at eq "/proc");
    # A device is one only below /dev: a node elsewhere could be a disk.
    my $fl = $REMOUNT | $BIND | $RDONLY; $fl |= $NOSUID if $f[5] =~ /nosuid/; $fl |= $NODEV if $f[5] =~ /nodev/ || "$at/" !~ m{^/dev/}; $fl |= $NOEXEC if $f[5] =~ /noexec/;
    if ($f[5] =~ /(^|,)ro(,|$)/) { mnt("none", $at, 0, $fl, 0, 1) if $f[5] !~ /nodev/; next }
    next if mnt("none", $at, 0, $fl, 0, 1); my $why = $!; my @s = stat($at); next if !@s;
    # A mount below a later one (work inside an overlaid home) cannot be reached by anybody, so it needs no remount.
    next if $f[2] ne ((($s[0] >> 8) & 0xfff) . ":" . (($s[0] & 0xff) | (($s[0] >> 12) & 0xfff00)));
    stop("read-only $at: $why") }
  for my $dir ($C{work}, $C{probe}) { next unless $dir; if (open(my $f, ">", "$dir/.verbatim-guard-probe")) { unlink("$dir/.verbatim-guard-probe"); stop("$dir can still be written") } }
  mnt("tmpfs", "$C{work}/dv", "tmpfs", $NOSUID, "mode=0755,size=1m");
  for my $n ("null", "zero", "full", "random", "urandom", "tty") { next unless -e "/dev/$n"; open(my $f, ">", "$C{work}/dv/$n"); close($f); mnt("/dev/$n", "$C{work}/dv/$n", 0, $BIND) }
  mkdir("$C{work}/dv/shm"); mnt("tmpfs", "$C{work}/dv/shm", "tmpfs", $NOSUID | $NODEV, "mode=1777$size");
  # Terminals of its own: those of the machine, which belong to the same user, could be read and written.
  mkdir("$C{work}/dv/pts"); mnt("devpts", "$C{work}/dv/pts", "devpts", $NOSUID | $NOEXEC, "newinstance,ptmxmode=0666,mode=0620", 1); symlink("pts/ptmx", "$C{work}/dv/ptmx");
  if ($C{tty}) { open(my $f, ">", "$C{work}/dv/console"); close($f); mnt($C{tty}, "$C{work}/dv/console", 0, $BIND) }
  symlink("/proc/self/fd", "$C{work}/dv/fd"); symlink("/proc/self/fd/$_->[0]", "$C{work}/dv/$_->[1]") for ([0, "stdin"], [1, "stdout"], [2, "stderr"]);
  for my $d ("/run/user", "/run/dbus", "/run/podman", "/run/containerd") { mnt("tmpfs", $d, "tmpfs", $NOSUID | $NODEV | $RDONLY, "mode=0755") if -d $d }
  for my $s ("/run/docker.sock", "/var/run/docker.sock") { mnt("/dev/null", $s, 0, $BIND) if -S $s }
  for my $p ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus") { next unless -e $p && $C{mode} ne "root"; mnt($p, $p, 0, $BIND, 0, 1) and mnt("none", $p, 0, $REMOUNT | $BIND | $RDONLY, 0, 1) }
  mnt("tmpfs", "$C{work}/tmp", "tmpfs", $NOSUID | $NODEV, "mode=1777$size");
  for my $n ("t", "c") { mkdir("$C{work}/tmp/$n"); chmod(0700, "$C{work}/tmp/$n") }
  # Looked at before the temporary folders change: what is hidden or shown may lie below one of them.
  @hide = (@hide, map { other_names($_) } @hide);
  my ($shown, @there) = (hold(), grep { -d } @hide); sysopen(my $nothing, "$C{work}/nothing", 010000000) or stop("nothing: $!");
  rebind("/dev", "$C{work}/dv");
  for my $d ("/tmp", "/var/tmp") { rebind($d, "$C{work}/tmp") if -d $d && !-l $d }
  my %names; if (grep { $_ eq "names:1" } @reach) { for my $n ("resolv.conf", "nsswitch.conf") { my $f; $names{$n} = $f if sysopen($f, "$C{work}/$n", 010000000) } }
  cover($shown, \@there, $nothing) if @hide;
  own_names(%names);
  chdir($C{cwd}) or stop("cwd: $!");
  %ENV = %env;
  say_to("READY");
  $^F = 2; fcntl($ctl, 2, 1) or stop("control: $!");
  my @drop = $C{mode} eq "root"
    ? ($C{setpriv}, "--bounding-set", "-all,+chown,+dac_override,+fowner,+fsetid", "--inh-caps", "-all", "--no-new-privs", "--")
    : ($C{unshare}, "--user", "--map-user=$C{uid}", "--map-group=$C{gid}", "--", ($C{nproc} ? ($C{prlimit}, "--nproc=$C{nproc}:$C{nproc}", "--") : ()), $C{setpriv}, "--no-new-privs", "--");
  if ($C{tty}) { open(STDOUT, ">&", \*STDIN) or stop("terminal: $!"); if ($C{ttyerr}) { open(STDERR, ">&", \*STDIN) or exit 125 } }
  limit_files($arm, $C{fsize}); no_core($arm); no_abstract() if $C{net} eq "inherit"; filter_calls();
  exec { $drop[0] } @drop, @args;
  stop("exec: $!");
}
