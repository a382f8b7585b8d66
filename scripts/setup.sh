#!/usr/bin/env bash
# Installs what tablectl needs: scripts/setup.sh run|dev|long PYTHON VENV
# System packages come from apt where they are missing; without root it says which and stops.
set -euo pipefail
what=$1 python=$2 venv=$3

"$python" - <<'PY' || { echo "tablectl needs Python 3.11 or newer; try: make setup PYTHON=python3.11" >&2; exit 2; }
import sys
sys.exit(sys.version_info < (3, 11))
PY

packages=()
command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || packages+=(mosquitto)
"$python" -c 'import venv, ensurepip' 2>/dev/null || packages+=(python3-venv)
if [ "$what" != run ]; then
  command -v chromium >/dev/null || packages+=(chromium)
  # The controller's firmware: for the chip, for this machine, and the chip's simulator.
  command -v cc >/dev/null || packages+=(gcc libc6-dev)
  command -v avr-gcc >/dev/null || packages+=(gcc-avr avr-libc)
  pkg-config --exists simavr 2>/dev/null || packages+=(pkg-config libsimavr-dev libelf-dev)
  command -v avrdude >/dev/null || packages+=(avrdude)
  [ -d /usr/share/arduino/hardware/arduino/avr/bootloaders ] || packages+=(arduino-core-avr)
  command -v cppcheck >/dev/null || packages+=(cppcheck)
  # Tests print the sheet of markers and letter tiles.
  command -v pdftoppm >/dev/null || packages+=(poppler-utils)
  [ -d /usr/share/fonts/truetype/wqy ] || packages+=(fonts-wqy-microhei)
fi
if [ "$what" = long ] && ! command -v dot >/dev/null; then
  packages+=(graphviz) # draws the wiring anew
fi
if [ "$what" = long ] && ! command -v clang >/dev/null; then
  # Fuzzes the firmware; the sanitizers come apart, by version.
  llvm=$(apt-cache show clang 2>/dev/null | sed -n 's/^Depends: clang-\([0-9]*\).*/\1/p' | head -1)
  packages+=(clang "libclang-rt-${llvm:-14}-dev")
fi
if [ ${#packages[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing: ${packages[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}"
  else
    echo "These system packages are missing: ${packages[*]}" >&2
    echo "Install them and run make again:  sudo apt-get install ${packages[*]}" >&2
    exit 2
  fi
fi

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --upgrade pip
case "$what" in
  run) extras="" ;;
  dev) extras="[dev]" ;;
  long) extras="[dev,peers]" ;;
esac
"$venv/bin/python" -m pip install --quiet --editable ".$extras"
