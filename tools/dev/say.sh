# How ./dev speaks: progress to stderr, so that what a command prints can be piped on.

say() { printf '\033[1m%s\033[0m\n' "== $*" >&2; }
[[ -t 2 ]] || say() { printf '%s\n' "== $*" >&2; }

die() {
  printf '%s\n' "dev: $*" >&2
  exit 1
}

# Prints the seconds since $1, a value of $SECONDS, as 1m05s.
since() { printf '%dm%02ds' $(((SECONDS - $1) / 60)) $(((SECONDS - $1) % 60)); }
