# Benchmarks: executable files in bench/ (no extension), each runs Sluice beside its yardstick and prints the ratio.

run_bench() {
  local names
  names=$(find bench -maxdepth 1 -type f -executable ! -name '*.*' -printf '%f\n' | sort)
  [[ -n $names ]] || die "No benchmarks found."
  [[ $# -gt 0 ]] || { echo "$names"; return; }
  known benchmark "$1" "$names"
  need bench
  build release programs benchmarks
  SLUICE_BIN=$PWD/build/release/bin SLUICE_SOURCE=$PWD exec "bench/$1" "${@:2}"
}
