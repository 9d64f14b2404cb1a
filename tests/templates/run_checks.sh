#!/usr/bin/env bash
# run_checks.sh PROGRAM FILECHECK FILE: runs every line of FILE that reads
#   // RUN: ARGUMENTS OF PROGRAM | OPTIONS OF FileCheck
# and matches what it prints against FILE ($file in ARGUMENTS). PROGRAM is heddle or
# instruction_probe. Exit 77 (skipped) without FileCheck or NVRTC.
set -euo pipefail
program=$1 filecheck=$2 file=$3

if [ ! -x "$filecheck" ]; then
  echo "skipped: no FileCheck on this machine; install the package llvm-14-tools"
  exit 77
fi
output=$(mktemp)
errors=$(mktemp)
trap 'rm -f "$output" "$errors"' EXIT

runs=0
while IFS='|' read -r arguments options; do
  status=0
  eval "\"\$program\" $arguments" >"$output" 2>"$errors" || status=$?
  if [ "$status" -eq 3 ] && grep -q "no usable NVRTC" "$errors"; then
    echo "skipped: $(cat "$errors")"
    exit 77
  fi
  if [ "$status" -eq 77 ]; then
    cat "$output"
    exit 77
  fi
  if [ "$status" -ne 0 ]; then
    echo "$(basename "$program") $arguments: exit code $status"
    cat "$errors"
    exit 1
  fi
  eval "\"\$filecheck\" --dump-input-context=8 $options \"\$file\"" <"$output"
  runs=$((runs + 1))
done < <(sed -n 's|^// RUN: ||p' "$file")

if [ "$runs" -eq 0 ]; then
  echo "$file has no RUN line"
  exit 1
fi
