use strict;

# Compares the stat of every path of a tree with rows that were kept: two processes, one statx per path, relative to its
# folder. A folder is listed only where its own stat does not vouch for its names. Text only: nothing is compiled and
# nothing has to be installed.
#
# It hears one request per line, numbers and hex texts with spaces between, and answers OK with the folders that are not
# as they were, or NO when it cannot tell. Before that it says now and then how many files both have seen: AT and a number.

my $STATX = shift @ARGV;
my ($CWD, $NOFOLLOW, $BASIC, $HERE) = (-100, 0x100, 0x7ff, ".");
binmode(STDIN); binmode(STDOUT); $| = 1;
while (defined(my $line = <STDIN>)) { chomp $line; my $bad = answer(split(/ /, $line, -1)); print defined $bad ? "OK $bad\n" : "NO\n" }
exit 0;

sub answer {
  my ($place, $id, $root, $limit, $all, $hide, $count, $folders, @at) = @_;
  $place = pack("H*", $place); $root = pack("H*", $root);
  my %hidden; for (split(/,/, $hide)) { my ($f, $n) = split(/:/); push @{$hidden{pack("H*", $f)}}, pack("H*", $n) }
  open(my $file, "<", $place) or return undef; binmode($file);
  my $read = sub { my ($from, $size) = @_; my $got = ""; return $got if !$size; sysseek($file, $from, 0) or return undef;
    while (length($got) < $size) { my $n = sysread($file, $got, $size - length($got), length($got)); return undef if !$n } $got };
  my ($idAt, $rowsAt, $firstAt, $dirsAt, $endsAt, $namesAt, $folderSize, $nameSize) = @at;
  my $told = $read->($idAt, length($id)); return undef if !defined $told || $told ne $id;
  my $rows = $read->($rowsAt, $count * 64);
  my @first = unpack("L<*", $read->($firstAt, ($folders + 1) * 4) // "");
  my @dirs = unpack("L<*", $read->($dirsAt, $folders * 4) // "");
  my @ends = unpack("L<*", $read->($endsAt, $folders * 8) // "");
  my $paths = $read->($namesAt, $folderSize); my $names = $read->($namesAt + $folderSize, $nameSize);
  return undef if !defined $rows || !defined $paths || !defined $names || @first != $folders + 1 || @dirs != $folders || @ends != 2 * $folders;
  my $step = 1 + int($folders / 1000);
  my @steps = map { $_ * $step } 0 .. int(($folders - 1) / $step);
  pipe(my $take, my $give) or return undef; syswrite($give, pack("L<*", @steps)) == 4 * @steps or return undef; close($give);
  pipe(my $hear, my $tell) or return undef;
  # Where the call itself is refused nothing can be told; and what the root vouches for holds on its own disk only.
  my $stat0 = "\0" x 256; return undef if syscall($STATX, $CWD, $root, $NOFOLLOW, $BASIC, $stat0) != 0; my $disk = substr($stat0, 136, 8);
  my $child = fork(); return undef if !defined $child;
  my @bad; my $stat = "\0" x 256; my ($mark, $dir) = (1, 0);
  while ((sysread($take, my $token, 4) // 0) == 4) {
    my $from = unpack("L<", $token); my $to = $from + $step; $to = $folders if $to > $folders;
    # Whatever comes before a share was taken by one of the two.
    if ($child && $from >= $mark) { $dir++ while $dir < $folders && $dirs[$dir] < $first[$from]; print "AT ", $first[$from] - $dir, "\n"; $mark = $from + $folders / 20 }
    for my $i ($from .. $to - 1) {
      my $start = $i ? $ends[$i - 1] : 0; my $path = substr($paths, $start, $ends[$i] - $start);
      if (!chdir($path eq "" ? $root : "$root/$path")) { push @bad, $i; next }
      $start = $i ? $ends[$folders + $i - 1] : 0; my @names = split(/\0/, substr($names, $start, $ends[$folders + $i] - $start), -1);
      my $row = substr($rows, 64 * $dirs[$i], 64);
      my $same = syscall($STATX, $CWD, $HERE, $NOFOLLOW, $BASIC, $stat) == 0 && substr($stat, 16, 32) . substr($stat, 96, 32) eq $row;
      if (!$same || $all || !$i || substr($stat, 136, 8) ne $disk || unpack("q<", substr($row, 32, 8)) > $limit) {
        my %not = map { ($_, 1) } ".", "..", @{$hidden{$path} || []};
        opendir(my $dir, ".") or do { push @bad, $i; next };
        my @there = sort grep { !$not{$_} } readdir($dir); closedir($dir);
        if (join("\0", @there) ne join("\0", sort @names)) { push @bad, $i; next }
      }
      my $now = "";
      for my $name (@names) { last if syscall($STATX, $CWD, $name, $NOFOLLOW, $BASIC, $stat) != 0; $now .= substr($stat, 16, 32) . substr($stat, 96, 32) }
      push @bad, $i if $now ne substr($rows, 64 * $first[$i], 64 * @names);
    }
  }
  if (!$child) { close($hear); my $text = join(" ", @bad, "."); my $at = 0;
    while ($at < length($text)) { my $n = syswrite($tell, $text, length($text) - $at, $at); last if !$n; $at += $n }
    exit 0 }
  close($tell); my $more = ""; 1 while sysread($hear, $more, 65536, length($more)); waitpid($child, 0);
  chdir("/");
  # A child that broke off did not end with its mark, and its share is unseen.
  return undef if $more !~ s/ ?\.$//;
  print "AT ", $count - $folders, "\n";
  join(" ", @bad, $more eq "" ? () : $more);
}
