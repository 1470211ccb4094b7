# Tests: every tier by ctest from build/asan, and what threads share once more from build/tsan.

tests_passed=0
tests_failed=0

# Runs ctest in build/$1 with the arguments after it, and counts.
run_ctest() {
  local preset=$1 report code=0
  shift
  report=$(mktemp)
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=ignore -j "$(job_count)" "$@" | tee "$report" || code=$?
  local failed total
  read -r failed total < <(sed -nE 's/.*, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$report") || { failed=0 total=0; }
  rm -f "$report"
  tests_passed=$((tests_passed + total - failed))
  tests_failed=$((tests_failed + failed))
  [[ $code -eq 0 || $failed -gt 0 ]] || die "ctest ended with $code before it could count."
}

run_tests() {
  local filter=.
  while [[ $# -gt 0 ]]; do
    case $1 in
      --long) export SLUICE_LONG=1 ;;
      -*) die "test knows --long; '$1' it does not know." ;;
      *) filter=$1 ;;
    esac
    shift
  done
  [[ $filter == *:* ]] && export GTEST_FILTER=${filter#*:}

  rm -f build/test-counts
  local started=$SECONDS chosen=(-R "${filter%%:*}")
  need test
  build asan
  build tsan thread_tests
  say "Testing"
  run_ctest asan "${chosen[@]}"
  run_ctest tsan -L threads "${chosen[@]}"

  mkdir -p build && echo "$tests_passed $tests_failed" >build/test-counts
  say "Tested in $(since "$started")"
  echo "$tests_passed passed, $tests_failed failed"
  [[ $((tests_passed + tests_failed)) -gt 0 ]] || die "No test has a name like '${filter%%:*}'."
  [[ $tests_failed -eq 0 ]]
}

# Prints the tests of build/asan that carry the label $1.
labelled() { ctest --test-dir build/asan -N -L "$1" | sed -nE 's/^ *Test +#[0-9]+: //p'; }

run_chaos() {
  need test
  configure asan
  local names
  names=$(labelled chaos)
  [[ -n $names ]] || die "There is no chaos test yet."
  [[ $# -gt 0 ]] || { echo "$names"; return; }
  grep -qx -- "$1" <<<"$names" || die "There is no chaos test '$1'. These there are: ${names//$'\n'/ }"
  build asan
  SLUICE_LONG=1 ctest --test-dir build/asan --verbose --timeout 3600 -R "^$1\$"
}

run_fuzz() {
  need build
  configure asan
  local names
  names=$(labelled fuzz | sed 's/^fuzz_//')
  [[ -n $names ]] || die "There is no fuzz target yet."
  [[ $# -gt 0 ]] || { echo "$names"; return; }
  grep -qx -- "$1" <<<"$names" || die "There is no fuzz target '$1'. These there are: ${names//$'\n'/ }"
  build asan "fuzz_$1"
  exec tools/run_fuzz build/asan "$1" "${2:-300}"
}
