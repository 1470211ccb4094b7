# Lists the installed and the missing tools.

row() { printf '%-16s %s\n' "$1" "$2"; }
tool_row() {
  local where
  where=$(type -P "$1" || { [[ -x /usr/sbin/$1 ]] && echo "/usr/sbin/$1"; }) || { row "$1" "not installed"; return; }
  row "$1" "$({ "$where" "${2:---version}" 2>&1 || true; } | grep -oE '[0-9]+\.[0-9][0-9.]*' | sed -n 1p)"
}

doctor() {
  local tool group missing ready=0
  for tool in clang++-19 ld.lld-19 clang-tidy-19 clang-format-19 cmake ninja ccache python3 git shellcheck psql pgbouncer redis-server node npm mvn wrk k6; do
    tool_row "$tool"
  done
  tool_row nginx -v
  tool_row openssl version
  tool_row go version
  tool_row java -version
  row cores "$(nproc), so $(job_count 1) jobs"
  row memory "$(awk '/MemTotal/ { t = $2 } /MemAvailable/ { a = $2 } END { printf "%.1f GB, %.1f GB free", t / 1048576, a / 1048576 }' /proc/meminfo)"
  row disk "$(df -Ph . | awk 'END { print $4 " free here" }')"
  row 'open files' "$(ulimit -Sn), up to $(ulimit -Hn)"
  command -v ccache >/dev/null && row 'ccache holds' "$(ccache -s | awk '/Cache size/ { print $4 " of " $6 " GB" }')"
  for group in build check test bench; do
    local -n entries=packages_$group
    missing=$(missing_packages "${entries[@]}" | tr '\n' ' ')
    row "for $group" "${missing:+missing: }${missing:-all packages are here}"
    [[ $group == test && -n $missing ]] && ready=1
  done
  if [[ $ready -eq 0 ]]; then echo "./dev test can run."
  else echo "./dev test would first install the missing packages."; fi
  return $ready
}
