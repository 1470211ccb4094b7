# Tests: every tier by ctest from build/asan, and what threads share once more from build/tsan.

# Inherited from the environment, it could make programs pass without running a test.
unset GTEST_FILTER

skip_unchanged=''  # tests that nothing has changed for since they passed
after_tests=forget # or keep, what passed, for the next time
tests_passed=0
tests_failed=0
tests_left_out=0

# Runs ctest in build/$1 with the arguments after it, and counts.
run_ctest() {
  local preset=$1 report code=0 unchanged=()
  shift
  python3 tools/unchanged_tests.py look "build/$preset"
  if [[ -n $skip_unchanged ]]; then
    local names
    names=$(python3 tools/unchanged_tests.py skip "build/$preset")
    if [[ -n $names ]]; then
      local chosen_names left_names
      chosen_names=$(ctest --test-dir "build/$preset" -N "$@" | grep -cE '^ *Test +#') || true
      left_names=$(ctest --test-dir "build/$preset" -N "$@" -E "$names" | grep -cE '^ *Test +#') || true
      tests_left_out=$((tests_left_out + chosen_names - left_names))
      unchanged=(-E "$names")
    fi
  fi
  report=$(mktemp)
  # Tests wait for engines half of the time.
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=ignore -j "$(job_count 2)" "$@" "${unchanged[@]}" | tee "$report" || code=$?
  local failed total
  read -r failed total < <(sed -nE 's/.*, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$report") || { failed=0 total=0; }
  python3 tools/unchanged_tests.py "$after_tests" "build/$preset"
  rm -f "$report"
  tests_passed=$((tests_passed + total - failed))
  tests_failed=$((tests_failed + failed))
  [[ $code -eq 0 || $failed -gt 0 ]] || die "ctest exited with $code without a count."
}

# Prints the tests of build/asan that ctest chooses by the arguments given; all without any.
test_names() { ctest --test-dir build/asan -N "$@" | sed -nE 's/^ *Test +#[0-9]+: //p'; }

# Whether $GTEST_FILTER leaves anything of the tests chosen.
has_cases() {
  local name
  for name in $(test_names "$@"); do
    [[ -x build/asan/bin/$name ]] && "build/asan/bin/$name" --gtest_list_tests | grep -q '^  ' && return
  done
  return 1
}

run_tests() {
  local filter=. all=${CI:-}
  while [[ $# -gt 0 ]]; do
    case $1 in
      --long) export SLUICE_LONG=1; all=yes ;;
      --all) all=yes ;;
      -*) misused "Unknown option '$1' of test; use --long or --all." ;;
      *) filter=$1 all=yes ;;
    esac
    shift
  done
  [[ $filter == *:* ]] && export GTEST_FILTER=${filter#*:}
  [[ $all == yes || $all == true ]] || skip_unchanged=yes
  [[ $filter == *:* || -n ${SLUICE_LONG:-} ]] || after_tests=keep

  rm -f build/test-counts
  local started=$SECONDS chosen=(-R "${filter%%:*}")
  need test
  configure asan
  [[ -n $(test_names "${chosen[@]}") ]] || misused "No test matches '${filter%%:*}'. Available: $(test_names | tr '\n' ' ')"
  build asan
  [[ $filter != *:* ]] || has_cases "${chosen[@]}" || misused "No case of ${filter%%:*} matches '$GTEST_FILTER'."
  build tsan thread_tests
  say "Testing${skip_unchanged:+ programs changed since they passed; --all runs everything}"
  run_ctest asan "${chosen[@]}"
  run_ctest tsan -L threads "${chosen[@]}"

  mkdir -p build && echo "$tests_passed $tests_failed" >build/test-counts
  say "Tested in $(since "$started")"
  [[ $tests_left_out -eq 0 ]] || echo "$tests_left_out programs left out: unchanged since they passed (--all runs them too)"
  echo "$tests_passed passed, $tests_failed failed"
  [[ $tests_failed -eq 0 ]]
}

run_chaos() {
  need test
  configure asan
  local names
  names=$(test_names -L chaos)
  [[ -n $names ]] || die "No chaos tests found."
  [[ $# -gt 0 ]] || { echo "$names"; return; }
  known 'chaos test' "$1" "$names"
  build asan
  SLUICE_LONG=1 ctest --test-dir build/asan --verbose -R "^$1\$"
}

run_fuzz() {
  need build
  configure asan
  local names
  names=$(test_names -L fuzz | sed 's/^fuzz_//')
  [[ -n $names ]] || die "No fuzz targets found."
  [[ $# -gt 0 ]] || { echo "$names"; return; }
  known 'fuzz target' "$1" "$names"
  [[ ${2:-300} =~ ^[0-9]+$ ]] || misused "'$2' is not a number of seconds."
  build asan "fuzz_$1"
  exec tools/run_fuzz build/asan "$1" "${2:-300}"
}
