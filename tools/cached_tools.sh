# What scripts need that install a tool of their own, once for the machine; to be sourced.

go_oldest=1.21 # since then Go fetches the version that a program asks for by itself
go_newer=1.26.0

cache_folder() { # as tests/support/cache_folder.h has it
  if [[ -n ${SLUICE_CACHE:-} ]]; then echo "$SLUICE_CACHE"
  elif [[ $EUID -eq 0 ]]; then echo /var/cache/sluice
  else echo "${XDG_CACHE_HOME:-$HOME/.cache}/sluice"; fi
}

# Prints where a Go is that builds today's programs: the machine's, else (Debian 12 has 1.19) the one it can download as
# a module.
find_go() {
  local version module root
  version=$(go env GOVERSION)
  if printf '%s\n' "$go_oldest" "${version#go}" | sort -V -C; then
    type -P go
    return
  fi
  module=golang.org/toolchain@v0.0.1-go$go_newer.$(go env GOOS)-$(go env GOARCH)
  go mod download "$module" >&2 || return 1
  root=$(go env GOMODCACHE)/$module
  chmod +x "$root"/bin/* "$root"/pkg/tool/*/* # modules come without that
  echo "$root/bin/go"
}
