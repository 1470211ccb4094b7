# Benchmarks: executable files in bench/ (no extension), each runs Sluice beside its yardstick and prints the ratio.

# Runs the benchmarks named, one after the other; what follows the last name goes to that benchmark.
run_bench() {
  local names chosen=()
  names=$(find bench -maxdepth 1 -type f -executable ! -name '*.*' -printf '%f\n' | sort)
  [[ -n $names ]] || die "No benchmarks found."
  [[ $# -gt 0 ]] || { echo "$names"; return; }
  known benchmark "$1" "$names"
  while [[ $# -gt 0 ]] && grep -qxF -- "$1" <<<"$names"; do
    chosen+=("$1")
    shift
  done
  need bench
  build release programs benchmarks
  export SLUICE_BIN=$PWD/build/release/bin SLUICE_SOURCE=$PWD
  local name
  for name in "${chosen[@]::${#chosen[@]}-1}"; do "bench/$name"; done
  "bench/${chosen[-1]}" "$@"
}
