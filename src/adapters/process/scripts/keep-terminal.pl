use strict;

# Runs a command and leaves the terminal only when everything the command said was read. A terminal whose session ends
# throws away what nobody has read yet, so the leader of the session is this script and not the command: when the command
# has ended, it writes a mark behind its last words and waits until the reader answers.
# Arguments: the mark, the answer, the command. It ends as the command did.

my ($mark, $answer, @c) = @ARGV;
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
sub leave { my $signal = $status & 127; if ($signal) { my @names = split(" ", do { require Config; $Config::Config{sig_name} }); $SIG{$names[$signal]} = "DEFAULT" if $names[$signal] !~ /KILL|STOP/; kill($signal, $$); sleep(1) } exit($status >> 8) }
