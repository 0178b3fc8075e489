use strict;

# What an overlay noted in the upper folder of a layer, for the root of the machine: names that are gone (w), folders that
# show nothing of the lower side (o), and folders that show another one's (r, with where it is). NUL after every word.

my ($GET, $upper) = @ARGV; $GET += 0; binmode(STDOUT);
sub mark { my ($place, $name) = ("$_[0]", "trusted.overlay.$_[1]"); my $text = "\0" x 4097;
  my $size = syscall($GET, $place, $name, $text, 4096); $size >= 0 ? substr($text, 0, $size) : undef }
my @todo = ("");
while (defined(my $folder = shift @todo)) {
  opendir(my $names, "$upper/$folder") or die "$folder: $!\n";
  for my $name (readdir($names)) { next if $name eq "." || $name eq "..";
    my $path = $folder eq "" ? $name : "$folder/$name"; my @facts = lstat("$upper/$path") or die "$path: $!\n";
    if (-c _ && $facts[6] == 0) { print "w\0$path\0\0"; next }
    next unless -d _; push @todo, $path;
    my ($opaque, $to) = (mark("$upper/$path", "opaque"), mark("$upper/$path", "redirect"));
    print "o\0$path\0\0" if defined $opaque && $opaque eq "y"; print "r\0$path\0$to\0" if defined $to } }
