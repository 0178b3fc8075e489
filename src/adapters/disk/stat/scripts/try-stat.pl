use strict;

# Writes one byte through a mapping of a file without a name, which was read before and so needs no fault to be written, and
# looks whether its time moved. The file leaves no trace, in the folder neither. Arguments: the folder, O_TMPFILE, the
# numbers of mmap, read and write.

my ($dir, $flags, $mmap, $read, $write) = @ARGV;
sysopen(my $f, $dir, $flags | 2, 0600) or exit 1; syswrite($f, "a" x 4096) == 4096 or exit 1;
my $at = syscall($mmap + 0, 0, 4096, 3, 1, fileno($f), 0); exit 1 if $at == -1;
pipe(my $r, my $w) or exit 1; exit 1 if syscall($write + 0, fileno($w), $at, 1) != 1; sysread($r, my $was, 1);
utime(1, 1, $f) or exit 1; syswrite($w, "b"); exit 1 if syscall($read + 0, fileno($r), $at, 1) != 1;
seek($f, 0, 0); sysread($f, my $now, 1); exit($now eq "b" && (stat($f))[9] != 1 ? 0 : 1);
