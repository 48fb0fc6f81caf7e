#!/bin/sh
# Debian packages of what `make all` built: ci/deb.sh HEADER..., with BUILD, VERSION and LIBS in the
# environment. `make deb` is the way to call it. Writes to $BUILD/deb:
#
#   alar          the program, back ends, recorders, manual pages, completions, data and plans, Python
#   libalar0      the library        libalar-dev   headers, static library, pkg-config
set -eu

arch=$(dpkg --print-architecture)
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
top=$PWD
out=$BUILD/deb
who="alar developers <alar@users.noreply.invalid>"
rm -rf "$out"
mkdir -p "$out/all" "$out/debian"
DESTDIR=$top/$out/all PREFIX=/usr LIBDIR=lib/$multiarch ci/install.sh "$@"
rm "$out/all/usr/share/alar/installed"
date=$(date -R -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}")

# take PACKAGE PATH...: moves paths below /usr from the whole tree into the package's.
take() {
    package=$1
    shift
    for path in "$@"; do
        mkdir -p "$out/$package/usr/$(dirname "$path")"
        mv "$out/all/usr/$path" "$out/$package/usr/$path"
    done
}
take libalar0 "lib/$multiarch/libalar.so.0"
take libalar-dev "lib/$multiarch/libalar.so" "lib/$multiarch/libalar.a" "lib/$multiarch/pkgconfig" include
rmdir -p "$out/all/usr/lib/$multiarch" 2>/dev/null || true
mkdir -p "$out/all/usr/lib/python3/dist-packages"
mv "$out/all/usr/share/alar/python/alar" "$out/all/usr/lib/python3/dist-packages/alar"
rmdir "$out/all/usr/share/alar/python"
mv "$out/all/usr/share/zsh/site-functions" "$out/all/usr/share/zsh/vendor-completions"
mv "$out/all" "$out/alar"

# What the files need, asked of the packages that are installed.
cat >"$out/debian/control" <<END
Source: alar

Package: alar
Architecture: any
END
needs() { # needs FILE...: the packages whose libraries they use
    (cd "$out" && dpkg-shlibdeps --ignore-missing-info -O "$@" 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
}

finish() { # finish PACKAGE SECTION DEPENDS SUMMARY, the description on standard input
    package=$1 root=$out/$1
    gzip -9n "$root"/usr/share/man/man1/*.1 2>/dev/null || true
    doc=$root/usr/share/doc/$package
    mkdir -p "$doc" "$root/DEBIAN"
    cat >"$doc/copyright" <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: alar

Files: *
Copyright: 2026 the alar developers
License: Apache-2.0
 On Debian systems, the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
END
    printf 'alar (%s) unstable; urgency=medium\n\n  * Built from the tree by make deb.\n\n -- %s  %s\n' \
        "$VERSION-1" "$who" "$date" | gzip -9n >"$doc/changelog.Debian.gz"
    {
        echo "Package: $package"
        echo "Source: alar"
        echo "Version: $VERSION-1"
        echo "Architecture: $arch"
        [ "$package" = alar ] || echo "Multi-Arch: same"
        echo "Maintainer: $who"
        echo "Installed-Size: $(du -k -s "$root/usr" | cut -f 1)"
        echo "Depends: $3"
        echo "Section: $2"
        echo "Priority: optional"
        echo "Description: $4"
        sed 's/^/ /'
    } >"$root/DEBIAN/control"
    chmod -R u=rwX,go=rX "$root"
    (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    chmod 644 "$root"/DEBIAN/*
    dpkg-deb --root-owner-group --build "$root" "$out" >/dev/null
}

strip --strip-unneeded "$out/alar/usr/bin/alar" "$out"/alar/usr/lib/alar/*.so "$out"/libalar0/usr/lib/*/*.so.0
strip --strip-debug "$out"/libalar-dev/usr/lib/*/libalar.a
chmod 644 "$out"/alar/usr/lib/alar/*.so "$out"/libalar0/usr/lib/*/*.so.0

mkdir -p "$out/libalar0/DEBIAN"
echo "libalar 0 libalar0 (>= $VERSION)" >"$out/libalar0/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$out/libalar0/DEBIAN/triggers"

finish alar science "$(needs alar/usr/bin/alar), python3:any" "correctness oracle for asynchronous all-reduce of logged losses" <<'END'
Distributed training reduces its loss over all ranks only to print it. Done
with a pending all-reduce that is waited for at the log line this costs
nothing; done carelessly it prints wrong numbers.
.
alar records what a program's all-reduces did, judges it, draws it, and has a
small engine that does it right.
END
finish libalar0 libs "$(needs libalar0/usr/lib/"$multiarch"/libalar.so.0)" "asynchronous all-reduce of logged losses: library" <<'END'
The engine of alar as a library: a log whose losses are reduced over all ranks
by pending all-reduces, each with an explicit state.
END
finish libalar-dev libdevel "libalar0 (= $VERSION-1), libyajl-dev$(case $LIBS in *-lfiu*) echo ', libfiu-dev' ;; esac)" \
    "asynchronous all-reduce of logged losses: headers" <<'END'
Headers, static library and pkg-config file of libalar.
END
ls "$out"/*.deb
