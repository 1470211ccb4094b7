# Checks beside the tests. All of them run, even if one fails; then comes the result.

cpp_files() { find src tests bench cmake -name node_modules -prune -o \( -name '*.h' -o -name '*.cpp' \) -print | sort; }
shell_files() { grep -rlI '^#!/usr/bin/env bash' dev .ci tools bench deploy load; ls tools/dev/*.sh; }

format_sources() {
  need format
  cpp_files | xargs clang-format-19 -i
}

check_format() { cpp_files | xargs clang-format-19 --dry-run -Werror; }
check_shell() {
  local file
  for file in $(shell_files); do bash -n "$file"; done
  shell_files | xargs shellcheck --severity=warning --shell=bash --external-sources
}
check_source() { python3 tools/check_source.py; }
check_rooms() { python3 tools/check_rooms.py; }
check_headers() { build asan headers; }
# Files without findings are remembered for the machine, also for other clones of the repository.
check_tidy() {
  build asan sluice_pch sluice_test_pch
  # shellcheck source=tools/cached_tools.sh
  source tools/cached_tools.sh
  SLUICE_TIDY_CACHE=${SLUICE_TIDY_CACHE:-$(cache_folder)/tidy} python3 tools/tidy.py --build build/asan --jobs "$(job_count 1)"
}

run_checks() {
  need check
  configure asan
  local name started status verdict=0 results=()
  for name in format shell source rooms headers tidy; do
    say "Checking $name"
    started=$SECONDS
    set +e # or the first bad check would end them all
    (set -e; "check_$name")
    status=$?
    set -e
    if [[ $status -eq 0 ]]; then results+=("$name: good, $(since "$started")")
    else results+=("$name: BAD, $(since "$started")") verdict=1; fi
  done
  printf '%s\n' "${results[@]}"
  return $verdict
}
