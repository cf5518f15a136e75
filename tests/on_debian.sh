#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Run tests in another Debian, a root made by debootstrap under build/ (needs root; called by tools/test --on).
#
#   trixie          Debian 13 with the build packages: this tree's unit and scenario tests (mbedTLS 3.6, libuv 1.50,
#                   libsrtp2 2.7). The root is kept and used again.
#   bookworm-clean  Debian 12 with nothing but git: a clone of HEAD runs ./tools/test, which installs all it needs. The root
#                   is made anew each time.
#
# Packages come from the mirror that this machine's apt is configured for. All mounts live in a mount namespace that ends
# with the run, and so do all processes of it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() {
    echo "tools/test --on: $*" >&2
    exit 1
}

[ "$(id -u)" = 0 ] || fail "needs root"
[ $# -ge 1 ] || fail "say trixie or bookworm-clean"
what=$1
shift
case $what in
trixie) suite=trixie ;;
bookworm-clean) suite=bookworm ;;
*) fail "unknown system '$what': trixie or bookworm-clean" ;;
esac
"$root/tools/setup" build
command -v debootstrap >/dev/null || {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends debootstrap
}

# What this machine's apt uses: the archive itself, and the archive of security updates when there is one.
archive() {
    apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
        awk -v kind="$1" '$2 == "Debian" && $4 == "main" {
            is_security = $3 ~ /-security$/
            if ((kind == "security") == is_security && $3 !~ /-(updates|backports)/) { print $1; exit }
        }'
}
mirror=$(archive main)
security=$(archive security)
[ -n "$mirror" ] || fail "apt knows no Debian archive; run apt-get update"

target=$root/build/$what
if [ "$what" = bookworm-clean ] || [ ! -e "$target/.complete" ]; then
    rm -rf --one-file-system "$target"
    mkdir -p "$target"
    debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$target" "$mirror"
    {
        echo "deb $mirror $suite main"
        echo "deb $mirror $suite-updates main"
        [ -z "$security" ] || echo "deb $security $suite-security main"
    } >"$target/etc/apt/sources.list"
    touch "$target/.complete"
fi
# How this machine reaches the mirror: names, and what apt was told about proxies and dates.
cp -L /etc/resolv.conf /etc/hosts "$target/etc/"
apt-config dump --format '%F "%v";%n' Acquire::http Acquire::https Acquire::Check-Valid-Until Acquire::Check-Date |
    grep -v ' "";$' >"$target/etc/apt/apt.conf.d/80host" || true

case $what in
trixie)
    # The sources are bound read-only; the build goes into the root itself.
    inside='/src/tools/setup build && cd /src && exec /usr/bin/python3 tests/run.py --pure "$@"'
    ;;
bookworm-clean)
    git clone -q --no-hardlinks "$root" "$target/root/leat"
    inside='cd /root/leat && exec ./tools/test "$@"'
    ;;
esac

export target root what inside
exec unshare --mount --pid --fork --kill-child --propagation private bash -euc '
    mount --bind "$target" "$target" # a mount point as /, or ip netns exec fails in it
    mount -t proc proc "$target/proc"
    mount -t sysfs sysfs "$target/sys"
    mount --rbind /dev "$target/dev"
    mount -t tmpfs tmpfs "$target/dev/shm"
    if [ "$what" = trixie ]; then
        mkdir -p "$target/src" "$target/var/leat-build"
        mount --bind "$root" "$target/src"
        mount -o remount,ro,bind "$target/src"
        mount --bind "$target/var/leat-build" "$target/src/build"
    fi
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM:-dumb}" LANG=C.UTF-8 ${CI:+CI="$CI"} \
        chroot "$target" bash -c "$inside" tools/test "$@"
' on_debian "$@"
