# k6 scenarios: load/k6/NAME.js, each against a Sluice and an origin of its own (tools/run_k6).

run_k6() {
  local names
  names=$({ find load/k6 -maxdepth 1 -name '*.js' -printf '%f\n' 2>/dev/null || true; } | sed 's/\.js$//' | sort)
  [[ -n $names ]] || die "No k6 scenarios found."
  [[ $# -gt 0 ]] || { echo "$names"; return; }
  known 'k6 scenario' "$1" "$names"
  [[ ${2:-} == '' || ${2:-} == --short ]] || misused "Unknown option '$2' of k6; the only one is --short."
  type -P k6 >/dev/null || need k6
  need build
  build release sluice sluice-lab
  exec tools/run_k6 "$PWD/build/release/bin" "$@"
}
