use strict;

# The relay of a network namespace with no way out: it listens on loopback, answers names itself, and passes every
# connection on over a unix socket that the command cannot see. Each connection there begins with a line of the relay:
# P for a client of the proxy, T NAME PORT for one that went to the address of a listed name, N NAME for a name that is
# not listed, M for the server of the run, R for the relay itself. No module is loaded: the numbers are those of Linux.

my ($PROXY, $SERVER, $MOST_NAMES, $PART) = (3128, 3129, 65_000, 65_536);

sub inet { pack("S n a4 x8", 2, $_[1], pack("C4", split(/\./, $_[0]))) }
sub quiet { my $f = fcntl($_[0], 3, 0) or 0; fcntl($_[0], 4, $f | 2048) }

# Loopback is down in a new namespace.
sub loopback { socket(my $s, 2, 2, 0) or stop("loopback: $!"); my $up = pack("a16 s x22", "lo", 0x41);
  ioctl($s, 0x8914, $up) or stop("loopback: $!") }

# Starts the relay and waits until it listens. It has no rights, nobody may look into it, and its folder is the way out.
sub start_relay { my %r = @_; pipe(my $in, my $out) or stop("relay: $!");
  my $pid = fork(); defined $pid or stop("relay: $!");
  if ($pid == 0) { close($in); $r{leave}->() if $r{leave}; eval { relay($out, %r); 1 } or syswrite($out, "relay: $@"); syscall($r{arm} ? 94 : 231, 1) }
  close($out); my $said = ""; 1 while sysread($in, $said, 200, length($said)) && $said !~ /\n/;
  stop($said eq "" ? "the relay did not start" : $said =~ s/\n.*//sr) unless $said eq "ok\n"; $pid }

sub relay { my ($ready, %r) = @_; $SIG{PIPE} = "IGNORE"; $SIG{$_} = "IGNORE" for ("INT", "TERM", "HUP", "QUIT"); $0 = "relay";
  my ($PRCTL, $CAPSET, $PRLIMIT) = $r{arm} ? (167, 91, 261) : (157, 126, 302);
  my $limit = "\0" x 16; if (syscall($PRLIMIT, 0, 7, 0, $limit) == 0) { my (undef, $hard) = unpack("QQ", $limit); my $most = $hard > 65_536 ? 65_536 : $hard;
    my $new = pack("QQ", $most, $hard); syscall($PRLIMIT, 0, 7, $new, 0) }
  my %listen;
  my $open = sub { my ($at, $port, $kind) = @_; socket(my $s, 2, 1, 0) or die "socket: $!\n"; setsockopt($s, 1, 2, pack("l", 1));
    bind($s, inet($at, $port)) or die "port $port: $!\n"; listen($s, 1024) or die "port $port: $!\n"; quiet($s); $listen{fileno($s)} = [$s, $kind] };
  my $names;
  if ($r{proxy}) { $open->("127.0.0.1", $PROXY, "P") }
  if ($r{names}) { socket($names, 2, 2, 0) or die "socket: $!\n"; bind($names, inet("127.0.0.1", 53)) or die "names: $!\n"; quiet($names); $open->("0.0.0.0", $_, "T") for @{ $r{ports} } }
  $open->("127.0.0.1", $SERVER, "M") if $r{server};
  open(my $spare, "<", "/dev/null");
  my $out = sub { socket(my $s, 1, 1, 0) or return; connect($s, pack("S a*", 1, "net.sock")) or return; syswrite($s, "$_[0]\n"); quiet($s); $s };
  my $own = $out->("R") or die "way out: $!\n";
  my ($head, $none) = (pack("LL", 0x20080522, 0), "\0" x 24); syscall($CAPSET, $head, $none);
  syscall($PRCTL, 4, 0, 0, 0, 0); syscall($PRCTL, 38, 1, 0, 0, 0);
  syswrite($ready, "ok\n"); close($ready);
  my (%conn, %address, @named, %asked);
  # A name that is listed gets an address of its own, always the same one.
  my $find = sub { my ($n) = @_; return $address{$n} if $address{$n};
    return unless $r{exact}{$n} || grep { length($n) > length($_) && substr($n, -length($_)) eq $_ } @{ $r{wild} };
    return if @named >= $MOST_NAMES; push @named, $n; my $i = @named; $address{$n} = pack("CCCC", 127, 64 + ($i >> 16), ($i >> 8) & 255, $i & 255) };
  my $answer = sub { my $from = recv($names, my $q, 1500, 0); return unless defined $from && length($q) >= 17;
    my ($id, $flags, $qd) = unpack("nnn", $q); return if $flags & 0x8000; my ($at, @labels) = (12);
    while (1) { return if $at >= length($q); my $l = ord(substr($q, $at++, 1)); last if $l == 0; return if $l > 63 || $at + $l > length($q); push @labels, substr($q, $at, $l); $at += $l }
    return if $at + 4 > length($q) || $qd != 1; my ($type, $class) = unpack("nn", substr($q, $at, 4)); my $name = lc(join(".", @labels));
    my $found = $find->($name); my $say = $found && $type == 1 && $class == 1;
    my $reply = pack("n6", $id, 0x8180 | ($flags & 0x0100) | ($found ? 0 : 3), 1, $say ? 1 : 0, 0, 0) . substr($q, 12, $at + 4 - 12);
    $reply .= pack("nnnNn", 0xc00c, 1, 1, 5, 4) . $found if $say;
    # Programs ask for both kinds of addresses, and again: one line is enough. It is said before the answer is: whoever asked
    # may end with the answer, and this process with it.
    my $now = time(); %asked = () if keys %asked > 1000;
    if (!$found && ($asked{$name} // 0) <= $now - 2) { $asked{$name} = $now;
      my $shown = substr($name, 0, 260) =~ s/([^a-z0-9._*-])/sprintf("\\x%02x", ord($1))/ger; my $s = $out->("N $shown"); close($s) if $s }
    send($names, $reply, 0, $from) };
  my $take = sub { my ($s, $kind) = @{ $_[0] }; my $peer = accept(my $c, $s);
    if (!$peer) { if ($!{EMFILE} || $!{ENFILE}) { close($spare); my $drop; close($drop) if accept($drop, $s); open($spare, "<", "/dev/null") } return }
    my $first = $kind;
    if ($kind eq "T") { my (undef, $port, $to) = unpack("S n a4", getsockname($c)); my (undef, @n) = unpack("C4", $to); my $i = ($n[0] - 64) * 65_536 + $n[1] * 256 + $n[2];
      my $name = $n[0] >= 64 && $i > 0 ? $named[$i - 1] : undef; return unless defined $name; $first = "T $name $port" }
    my $o = $out->($first) or return; quiet($c); setsockopt($c, 6, 1, pack("l", 1));
    my $x = { fh => [$c, $o], n => [fileno($c), fileno($o)], buf => ["", ""], eof => [0, 0], shut => [0, 0] }; $conn{fileno($c)} = $x };
  while (1) { my ($r, $w) = ("", ""); vec($r, $_, 1) = 1 for keys %listen; vec($r, fileno($names), 1) = 1 if $names; vec($r, fileno($own), 1) = 1;
    for my $x (values %conn) { for my $i (0, 1) { vec($r, $x->{n}[$i], 1) = 1 if !$x->{eof}[$i] && length($x->{buf}[$i]) < $PART; vec($w, $x->{n}[1 - $i], 1) = 1 if length($x->{buf}[$i]) } }
    my $got = select($r, $w, undef, undef); next if $got < 0;
    # The tool has closed its end: nothing goes out any more.
    if (vec($r, fileno($own), 1)) { my $n = sysread($own, my $b, 64); return if defined $n && $n == 0 }
    for my $key (keys %conn) { my $x = $conn{$key};
      for my $i (0, 1) {
        if (vec($r, $x->{n}[$i], 1)) { my $n = sysread($x->{fh}[$i], $x->{buf}[$i], $PART, length($x->{buf}[$i]));
          if (defined $n) { $x->{eof}[$i] = 1 if $n == 0 } elsif (!$!{EAGAIN} && !$!{EINTR}) { $x->{eof}[$i] = 1 } }
        # Whoever does not listen any more may still be speaking: only this direction ends.
        if (length($x->{buf}[$i])) { my $n = syswrite($x->{fh}[1 - $i], $x->{buf}[$i]);
          if (defined $n) { substr($x->{buf}[$i], 0, $n, "") } elsif (!$!{EAGAIN} && !$!{EINTR}) { $x->{buf}[$i] = ""; $x->{eof}[$i] = 1 } }
        if ($x->{eof}[$i] && !length($x->{buf}[$i]) && !$x->{shut}[$i]) { shutdown($x->{fh}[1 - $i], 1); $x->{shut}[$i] = 1 } }
      if ($x->{shut}[0] && $x->{shut}[1]) { delete $conn{$key}; close($_) for @{ $x->{fh} } } }
    for my $n (keys %listen) { $take->($listen{$n}) if vec($r, $n, 1) }
    $answer->() if $names && vec($r, fileno($names), 1) } }
