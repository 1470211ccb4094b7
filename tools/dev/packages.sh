# What each command needs from Debian 12, and how it gets here.
#
# An entry is a package, or TOOL=PACKAGE where the tool may just as well have come from elsewhere.
# shellcheck disable=SC2034 # the groups are read by name

packages_format=(clang-format-19)
packages_build=(
  clang-19 lld-19 llvm-19 libclang-rt-19-dev cmake ninja-build ccache pkg-config git ca-certificates python3
  libboost1.81-dev libsimdjson-dev libpq-dev libsqlite3-dev libssl-dev libsodium-dev libcrypt-dev libexpat1-dev
  libxml2-dev libidn2-dev libxxhash-dev zlib1g-dev libhiredis-dev librdkafka-dev libtomlplusplus-dev libcli11-dev
  libfmt-dev libgtest-dev libgmock-dev libbenchmark-dev
)
packages_check=("${packages_build[@]}" "${packages_format[@]}" clang-tidy-19 shellcheck)
# The tools' own tests plant mistakes for clang-format and clang-tidy. npm brings PostgreSQL 18 for a second run, Maven
# brings Kafka, Go builds k6, pip brings Schemathesis; Debian has none of them.
packages_test=(
  "${packages_build[@]}" "${packages_format[@]}" clang-tidy-19 postgresql-15 pgbouncer redis-server openssl curl python3-venv
  node=nodejs npm=npm go=golang-go java=openjdk-17-jre-headless mvn=maven
)
packages_k6=(go=golang-go curl)
packages_bench=("${packages_build[@]}" postgresql-15 pgbouncer redis-server nginx=nginx-light wrk varnish
  java=openjdk-17-jre-headless mvn=maven npm=npm go=golang-go)

# Prints those of the entries given that are not installed, as package names.
missing_packages() {
  local entry wanted=()
  for entry in "$@"; do
    if [[ $entry != *=* ]]; then wanted+=("$entry")
    elif ! type -P "${entry%%=*}" >/dev/null && [[ ! -x /usr/sbin/${entry%%=*} ]]; then wanted+=("${entry#*=}"); fi
  done
  [[ ${#wanted[@]} -gt 0 ]] || return 0
  local installed # dpkg-query fails where it knows no such package, and prints the others all the same
  installed=$({ dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true; } | sed -n 's/^installed //p')
  printf '%s\n' "${wanted[@]}" | grep -vxF "${installed:-none}" | sort -u || true
}

# Installs the missing packages of the group $1 (build, check, test, k6, bench, format); without any, apt is not called.
need() {
  local -n group=packages_$1
  command -v dpkg-query >/dev/null || die "This script installs packages with apt, on Debian 12. On other systems, install the packages listed in tools/dev/packages.sh."
  local missing
  mapfile -t missing < <(missing_packages "${group[@]}")
  [[ ${#missing[@]} -eq 0 ]] && return

  local root=()
  if [[ $EUID -ne 0 ]]; then
    command -v sudo >/dev/null || die "Missing: ${missing[*]}. Run as root, or: apt-get install --no-install-recommends ${missing[*]}"
    root=(sudo)
  fi
  say "Installing ${#missing[@]} packages: ${missing[*]}"
  local started=$SECONDS
  "${root[@]}" bash tools/install_packages "${missing[@]}" || die "Installing the packages failed; see the error above."
  say "Installed in $(since "$started")"
}
