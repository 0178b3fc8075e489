import { homedir } from "node:os";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { listShellTargets } from "./shell-targets.ts";

// Each target as a sign and a path: `+` changed, `@` visited, `?` only named. HOME stands for the home folder.
const SIGNS = { changed: "+", visited: "@", named: "?" } as const;
const show = (command: string) =>
  listShellTargets(command, "/r")
    .map(({ path, use }) => `${SIGNS[use]}${path}`.replace(homedir(), "HOME"))
    .join(" ");

describe("what a program changes", () => {
  it.each<[string, string]>([
    ["rm -rf a /b", "+/r/a +/b"],
    ["rm -- -a b", "+/r/-a +/r/b"],
    ["rm - a", "+/r/a"],
    ["/bin/rm a", "+/r/a"],
    ["rmdir a; unlink b; mkfifo c", "+/r/a +/r/b +/r/c"],
    ["tee -a a b", "+/r/a +/r/b"],
    ["vi a; vim b; nvim c; nano d; ed e; ex f; emacs g", "+/r/a +/r/b +/r/c +/r/d +/r/e +/r/f +/r/g"],
    ["patch a; sponge b; mkfs c; mkfs.ext4 d", "+/r/a +/r/b +/r/c +/r/d"],
    ["mv a b", "+/r/a +/r/b"],
    ["mv -S x -t d a", "+/r/d +/r/a"],
    ["mv --suffix x --target-directory d a", "+/r/d +/r/a"],
    ["touch -r x -d y -t z a", "+/r/a"],
    ["touch --reference x --date y a", "+/r/a"],
    ["mkdir -p -m 700 a", "+/r/a"],
    ["mkdir --mode 700 a", "+/r/a"],
    ["truncate -s 0 -r x a; truncate --size 0 --reference x b", "+/r/a +/r/b"],
    ["shred -n 1 -s 2 a; shred --iterations 1 --size 2 b", "+/r/a +/r/b"],
    ["chmod 700 a b", "+/r/a +/r/b"],
    ["chown x a; chgrp x b; chattr +i c; setfacl x d", "+/r/a +/r/b +/r/c +/r/d"],
    ["chmod", ""],
    ["cp a b c", "+/r/c"],
    ["cp a", ""],
    ["cp -t d a b", "+/r/d"],
    ["cp -S x a b", "+/r/b"],
    ["cp --target-directory=d a", "+/r/d"],
    ["cp -at d a", "+/r/d"],
    ["ln -s a b", "+/r/b"],
    ["install -m 700 -o x -g y a b", "+/r/b"],
    ["install -d a b", "+/r/a +/r/b"],
    ["install --directory a b", "+/r/a +/r/b"],
    ["install -vd a", "+/r/a"],
    ["install -v -d a b", "+/r/a +/r/b"],
    ["rsync -e x --exclude y a b", "+/r/b"],
    ["rsync --backup-dir=k a b", "+/r/k"],
    ["scp -i k -P 1 a b", "+/r/b"],
    ["sed s/a/b/ x", ""],
    ["sed -i s/a/b/ x y", "+/r/x +/r/y"],
    ["sed -i -e s/a/b/ x", "+/r/x"],
    ["sed -i --expression s/a/b/ x", "+/r/x"],
    ["sed -i -f f x", "+/r/x"],
    ["sed -ni -l 5 p x", "+/r/x"],
    ["sed --in-place p x", "+/r/x"],
    ["sed -n -i p x", "+/r/x"],
    ["sed -n -i -e p x", "+/r/x"],
    ["perl -pe s/a/b/ x", ""],
    ["perl -pi -e s/a/b/ x", "+/r/x"],
    ["perl -p0i.bak -e s/a/b/ -M k x", "+/r/x"],
    ["ruby -pi -e s x; ruby x", "+/r/x"],
    ["yq -i .a x; yq .a y", "+/r/x"],
    ["curl -o a -D b x", "+/r/a +/r/b"],
    ["curl --output=a x", "+/r/a"],
    ["curl --url=/x y", ""],
    ["curl -sSo/a x", "+/a"],
    ["curl -so./a x", "+/r/a"],
    ["curl -H/x y", ""],
    ["curl -o", ""],
    ["wget -O a -P b x; wget --output-document=c x", "+/r/a +/r/b +/r/c"],
    ["sort -k 1 -o a b", "+/r/a"],
    ["tar -xf a -C b", "+/r/b"],
    ["unzip a -d b", "+/r/b"],
    ["dd if=a of=b bs=1", "+/r/b"],
    ["dd of=~/a", "+HOME/a"],
    ["cat a; grep x b; echo c; ls /d", ""],
  ])("%s", (command, expected) => {
    expect(show(command)).toBe(expected);
  });
});

describe("what a find changes", () => {
  it.each<[string, string]>([
    ["find a b -name x", ""],
    ["find a b -delete", "+/r/a +/r/b"],
    ["find -L a -delete", "+/r/a"],
    ["find -O2 a -delete", "+/r/a"],
    ["find a -exec rm {} +", "+/r/a"],
    ["find a -execdir rm -f {} ;", "+/r/a"],
    ["find a -ok rm {} ;", "+/r/a"],
    ["find a -exec sudo rm {} ;", "+/r/a"],
    ["find a -exec cat {} ;", ""],
    ["find a -exec rm b ;", ""],
    ["find a -name rm -exec cat {} ;", ""],
    ["find . -delete", "+/r"],
    ["find / -delete", "+/"],
    ["find ./ -name x -delete", ""],
    ["find . -iname x -delete", ""],
    ["find . -newermt x -delete", ""],
    ["find a . -size 1 -delete", "+/r/a"],
    ["find / -name x -delete", "+/"],
    ["find ./a -name x -delete", "+/r/a"],
    ["find . -fprint a -fprint0 b -fls c -fprintf d e", "+/r/a +/r/b +/r/c +/r/d"],
    ["find a ! -name x -delete", "+/r/a"],
  ])("%s", (command, expected) => {
    expect(show(command)).toBe(expected);
  });
});

describe("what git changes", () => {
  it.each<[string, string]>([
    ["git", ""],
    ["git status", ""],
    ["git -C a log", ""],
    ["git -C a commit", "@/r/a"],
    ["git -c x=y -C a commit", "@/r/a"],
    ["git --git-dir=a --work-tree b add c", "@/r/a @/r/b"],
    ["git -p -C a commit", "@/r/a"],
    ["git -C", ""],
    ["git rm a; git mv b c", "?/r/a ?/r/b ?/r/c"],
    ["git restore a; git checkout b; git clean c; git apply d; git am e", "?/r/a ?/r/b ?/r/c ?/r/d ?/r/e"],
    ["git add a", ""],
    ["git init a", "+/r/a"],
    ["git clone x a", "+/r/a"],
    ["git clone x", ""],
    ["git worktree add a", "+/r/a"],
    ["git bundle create a", "+/r/a"],
    ["git archive -o a HEAD", "+/r/a"],
    ["git archive --output=a HEAD", "+/r/a"],
    ["git diff --output=a", "+/r/a"],
    ["git format-patch --output-directory a", "+/r/a"],
    ["git config -f a x y", "+/r/a"],
    ["git config --file=a x y", "+/r/a"],
    ["git checkout -f a", ""],
  ])("%s", (command, expected) => {
    expect(show(command)).toBe(expected);
  });
});

describe("commands in commands", () => {
  it.each<[string, string]>([
    ["sudo rm a", "+/r/a"],
    ["sudo -u x rm a", "+/r/a"],
    ["sudo -u x bash -c 'rm a'", "+/r/a"],
    ["sudo -u x git rm a", "?/r/a"],
    ["sudo -u x nice -n 5 tidy a", "?/r/tidy ?/r/a"],
    ["A=b C+=d rm a", "+/r/a"],
    ["A=b", ""],
    ["env A=b rm a", "+/r/a"],
    ["nohup nice rm a", "+/r/a"],
    ["sudo", ""],
    ["sudo -k", ""],
    ["sudo -n tidy a", "?/r/a"],
    ["if rm a; then rm b; else rm c; fi", "+/r/a +/r/b +/r/c"],
    ["while ! rm a; do { rm b; }; done", "+/r/a +/r/b"],
    ["sh -c 'rm a'", "+/r/a"],
    ["bash -lc 'cd b; rm a'", "+/r/b/a"],
    ["bash -c", ""],
    ["bash a", ""],
    ["bash <<E\nrm a\nE", "+/r/a"],
    ["cat <<E\nrm a\nE", ""],
    ["eval rm a", "+/r/a ?/r/rm ?/r/a"],
    ['echo "$(rm a)"', "+/r/a"],
    ["echo `rm a`", "+/r/a"],
    ["echo '$(rm a)'", ""],
    ["echo \\$(rm a)", "+/r/a"],
    ["sh -c \"sh -c 'rm a'\"", "+/r/a"],
  ])("%s", (command, expected) => {
    expect(show(command)).toBe(expected);
  });

  it("are followed four deep", () => {
    const nest = (depth: number): string => (depth === 0 ? "rm a" : `eval ${nest(depth - 1)}`);
    expect([4, 5].map((depth) => show(nest(depth)).includes("+/r/a"))).toEqual([true, false]);
  });
});

describe("where a path leads", () => {
  it.each<[string, string]>([
    ["cd b && rm a", "+/r/b/a"],
    ["pushd /b; rm a", "+/b/a"],
    ["cd; rm a", "+HOME/a"],
    ["cd -; rm a", "+/r/a"],
    ["cd b; cd c; rm a", "+/r/b/c/a"],
    ["rm ~ ~/a", "+HOME +HOME/a"],
    ["rm '~/a'", "+/r/~/a"],
    ["rm $HOME/a $" + "{HOME}/b", "+HOME/a +HOME/b"],
    ["cd b; rm $PWD/a $" + "{PWD}/c", "+/r/b/a +/r/b/c"],
    ["rm $HOMES/a", ""],
    ["rm a/*.ts", "+/r/a"],
    ["rm a/b$c/d", "+/r/a"],
    ["rm /a/?", "+/a"],
    ["rm * ./*", ""],
    ["rm ../*", "+/"],
    ["rm ''", ""],
    ["echo > /dev/null > /dev/stdout > /dev/stderr > /dev/tty > /dev/fd/3 > /dev/zero", ""],
    ["echo > /dev/sda > /dev/nullx > a/dev/null", "+/dev/sda +/dev/nullx +/r/a/dev/null"],
    ["tidy a -b out=c", "?/r/a ?/r/c"],
    ["tidy x=~/a", "?HOME/a"],
    ["tidy '~/a'", "?/r/~/a"],
    ["rm a > b", "+/r/b +/r/a"],
  ])("%s", (command, expected) => {
    expect(show(command)).toBe(expected);
  });

  it("of another user is beside one's own", () => {
    expect(listShellTargets("rm ~mira/a", "/r")).toEqual([
      { path: `${dirname(homedir()).replace(/\/$/, "")}/mira/a`, use: "changed" },
    ]);
  });

  it("holds no zero", () => {
    expect(listShellTargets("rm a\0b c", "/r")).toEqual([{ path: "/r/c", use: "changed" }]);
  });
});
