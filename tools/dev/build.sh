# Building: one folder per preset under build/

# How many jobs run at once: $1 for each core, each with two gigabytes of memory.
job_count() {
  local wanted memory_gb
  wanted=$(($(nproc) * $1))
  memory_gb=$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)
  local fit=$((memory_gb / 2))
  echo $((fit < 1 ? 1 : fit < wanted ? fit : wanted))
}

# Configures build/$1, anew only where a CMake file or the set of sources has changed.
configure() {
  local log=build/$1/configure.log
  mkdir -p "build/$1"
  if [[ -f build/$1/build.ninja ]]; then ninja -C "build/$1" build.ninja >"$log" 2>&1 && return
  else
    say "Configuring $1"
    cmake --preset "$1" >"$log" 2>&1 && return
  fi
  cat "$log" >&2
  die "CMake could not configure $1."
}

# Builds targets ($2...; everything if none) of the preset $1.
build() {
  local preset=$1 started=$SECONDS
  shift
  configure "$preset"
  ninja -C "build/$preset" -j "$(job_count 1)" "$@" >&2 || die "The $preset build failed."
  say "Built $preset in $(since "$started")"
}

has_target() { ninja -C "build/$1" -t query "$2" >/dev/null 2>&1; }

# Release is what people run, so it is the programs alone; the other presets are for those who test.
build_preset() {
  local preset=release times=''
  while [[ $# -gt 0 ]]; do
    case $1 in
      --times) times=yes ;;
      -*) misused "Unknown option '$1' of build; use --times." ;;
      *) preset=$1 ;;
    esac
    shift
  done
  known preset "$preset" $'debug\nrelease\nasan\ntsan'
  need build
  if [[ $preset == release ]]; then build release programs
  else build "$preset"; fi
  [[ -z $times ]] || python3 tools/build_times.py "build/$preset"
}

run_demo() {
  need build
  configure release
  has_target release sluice || die "The release build has no target sluice."
  build release sluice
  exec build/release/bin/sluice serve --demo "$@"
}

run_services() {
  [[ ${1:-} == --help || ($# -eq 2 && $1 == up) ]] || misused "Name a service to start, such as ./dev services up pg. ./dev services --help lists them."
  need test
  configure release
  has_target release sluice-services || die "The release build has no target sluice-services."
  build release sluice-services
  exec build/release/bin/sluice-services "$@"
}

write_docs() {
  need build
  build release sluice
  SLUICE_BIN=build/release/bin tools/generated_docs.py --write
}
