#!/usr/bin/env bash
# NVRTC for a machine without the CUDA toolkit: fetches Python's nvidia-cuda-nvrtc package, unpacks
# its library and licence into a folder, and prints that folder's lib on standard output:
#     export HEDDLE_NVRTC="$(scripts/fetch_nvrtc.sh)"
# usage: scripts/fetch_nvrtc.sh [FOLDER]      (default: build/nvrtc in this checkout)
# A second run finds the files and fetches nothing. Needs python3 with pip; no root, no virtualenv.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
folder="${1:-$root/build/nvrtc}"
package='nvidia-cuda-nvrtc==13.0.*'
python="${PYTHON:-python3}"

say() { printf '%s\n' "$*" >&2; }
fail() { say "fetch_nvrtc.sh: $*"; exit 3; }

complete() {
  [ -e "$folder/lib/libnvrtc.so.13" ] && [ -e "$folder/LICENSE.txt" ] &&
    ls "$folder"/lib/libnvrtc-builtins.so.13.* > /dev/null 2>&1
}

if complete; then
  printf '%s\n' "$(cd "$folder" && pwd)/lib"
  exit 0
fi

if [ -d "$folder" ] && [ ! -e "$folder/NOTICE.txt" ] && [ -n "$(ls -A "$folder")" ]; then
  fail "$folder holds other files; name an empty or new folder"
fi
command -v "$python" > /dev/null || fail "no $python; install Python 3 (Debian: python3 python3-pip)"
"$python" -m pip --version > /dev/null 2>&1 ||
  fail "$python has no pip; install it (Debian: apt-get install python3-pip)"

mkdir -p "$(dirname "$folder")"
# Everything is prepared beside the goal and moved there in one step: an interrupted run leaves
# nothing that a later one would take for complete.
work="$(mktemp -d "$folder.new.XXXXXX")"
trap 'rm -rf "$work"' EXIT

say "Fetching $package with pip (about 90 MB)."
say "NVRTC is NVIDIA's, under the NVIDIA CUDA Toolkit End User License Agreement; by using it you"
say "accept that licence. It is kept beside the library, as LICENSE.txt."
"$python" -m pip download --quiet --no-deps --only-binary=:all: --dest "$work/wheel" "$package" >&2 ||
  fail "pip could not download $package; set HEDDLE_NVRTC to an NVRTC you have"

"$python" - "$work" << 'END'
import pathlib, shutil, sys, zipfile

work = pathlib.Path(sys.argv[1])
(wheel,) = (work / "wheel").glob("*.whl")
(work / "out" / "lib").mkdir(parents=True)
with zipfile.ZipFile(wheel) as archive:
    for name in archive.namelist():
        path = pathlib.PurePosixPath(name)
        is_library = path.name.startswith("libnvrtc") and ".alt." not in path.name
        if is_library:
            target = work / "out" / "lib" / path.name
        elif path.name == "License.txt":
            target = work / "out" / "LICENSE.txt"
        else:
            continue
        with archive.open(name) as source, open(target, "wb") as copy:
            shutil.copyfileobj(source, copy)
notice = f"""libnvrtc and libnvrtc-builtins in lib/ come from {wheel.name}
(Python package nvidia-cuda-nvrtc). They are (c) NVIDIA Corporation and licensed under the NVIDIA
CUDA Toolkit End User License Agreement, kept here as LICENSE.txt. They are not part of heddle.
"""
(work / "out" / "NOTICE.txt").write_text(notice)
END

rm -rf "$folder"
mv "$work/out" "$folder"
complete || fail "the package did not hold what was expected; see $folder"
printf '%s\n' "$(cd "$folder" && pwd)/lib"
