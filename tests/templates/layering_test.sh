#!/usr/bin/env bash
# layering_test.sh ROOT: who may include whom (the table of docs/architecture.md), and where asm is.
set -uo pipefail
cd "$1"
failures=0

# allow FOLDER NAMES…: quoted includes of FOLDER's files start with one of NAMES.
allow() {
  local folder=$1 names wrong
  shift
  names=$(IFS='|'; echo "$*")
  if [ -z "$(find "$folder" -name '*.[ch]pp' -o -name '*.cuh')" ]; then
    echo "$folder holds no source to check"
    failures=1
  fi
  wrong=$(grep -rnE --include='*.[ch]pp' --include='*.cuh' --include='*.h' '^ *#include "' "$folder" |
          grep -vE "#include \"($names)")
  if [ -n "$wrong" ]; then
    echo "$folder may include only $*:"
    echo "$wrong"
    failures=1
  fi
}

# forbid WHAT PATTERN FOLDERS…: no line of the FOLDERS' files matches PATTERN.
forbid() {
  local what=$1 pattern=$2 wrong
  shift 2
  if wrong=$(grep -rnE "$pattern" "$@"); then
    echo "$what:"
    echo "$wrong"
    failures=1
  fi
}

# Headers of plain constexpr arithmetic and plain structs, which host code may read too.
tile_headers='swizzle.cuh tensor_map.cuh matrix_descriptor.cuh wgmma_fragment.cuh
  warpgroup_layout.cuh mapped_parameters.cuh quantiser_layout.cuh quantise_parameters.cuh'
allow templates/instruction instruction/ $tile_headers
allow templates/part instruction/ part/ layout.cuh parameters.cuh $tile_headers
allow templates/kernel instruction/ part/ layout.cuh parameters.cuh $tile_headers
allow generator generator/ templates/layout.cuh templates/parameters.cuh templates/swizzle.cuh \
  templates/warpgroup_layout.cuh templates/quantiser_layout.cuh templates/quantise_parameters.cuh
allow tuning_db tuning_db/ generator/
# runtime/host/device stands in for templates/instruction: its headers name each other as those do.
allow runtime runtime/ tuning_db/ generator/ templates/parameters.cuh heddle/ \
  $(printf 'templates/%s ' $tile_headers) host_ instruction/ $tile_headers
allow tuner tuner/ runtime/ tuning_db/ generator/ templates/parameters.cuh
allow cli cli/ tuner/ runtime/ tuning_db/ generator/

forbid "device code needs no header but our own" '#include <' templates
forbid "asm belongs in templates/instruction" '\basm\b' templates/part templates/kernel templates/*.cuh
forbid "a user's program needs no toolkit" '#include [<"](cuda|nvrtc)[a-zA-Z_]*\.h[>"]' \
  generator tuning_db runtime tuner cli examples
# One namespace holds them all: of two types of one name the linker keeps one destructor, say.
twice=$(grep -rhoE --include='*.hpp' --exclude-dir=include '^(struct|class) [A-Za-z0-9_]+ ' \
          generator tuning_db runtime tuner cli | awk '{print $2}' | sort | uniq -d)
if [ -n "$twice" ]; then
  echo "two headers name a type so: $twice"
  failures=1
fi
exit "$failures"
