use strict;

# Inside bubblewrap, behind watch.pl and relay.pl: starts the relay, then becomes the first process. ARCH, the descriptor of
# the folder that only the relay may see, what the relay does, how many words come before its number, and those words.

my ($arch, $folder, $words, $count, @first) = @ARGV; my $arm = $arch eq "arm64"; my %r = (arm => $arm);
for my $way (split(/,/, $words)) { my ($k, $v) = split(/:/, $way, 2); $r{$k} = $v }
$r{leave} = sub { syscall($arm ? 50 : 81, $folder + 0) == 0 or die "folder: $!\n"; shut($_) for (3, 4, $folder);
  open(STDIN, "<", "/dev/null"); open(STDOUT, ">", "/dev/null"); open(STDERR, ">", "/dev/null") };
my $relay = start_relay(%r);
# Whoever looks into the first process must not find the folder there.
shut($folder);
exec { $first[0] } @first[0 .. $count - 1], $relay, @first[$count .. $#first]; stop("exec: $!");

sub shut { syscall($arm ? 57 : 3, $_[0] + 0) }
