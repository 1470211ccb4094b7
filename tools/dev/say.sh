# How ./dev speaks: progress to stderr, so that what a command prints can be piped on.

say() { printf '\033[1m%s\033[0m\n' "== $*" >&2; }
[[ -t 2 ]] || say() { printf '%s\n' "== $*" >&2; }

die() {
  printf '%s\n' "dev: $*" >&2
  exit 1
}

# The same where the caller is to ask differently.
misused() {
  printf '%s\n' "dev: $*" >&2
  exit 2
}

# Refuses $2 unless it is one of the lines of $3, each the name of a $1.
known() { grep -qxF -- "$2" <<<"$3" || misused "Unknown $1 '$2'. Available: ${3//$'\n'/ }"; }

# Prints the seconds since $1, a value of $SECONDS, as 1m05s.
since() { printf '%dm%02ds' $(((SECONDS - $1) / 60)) $(((SECONDS - $1) % 60)); }
