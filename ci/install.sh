#!/bin/sh
# Installs what `make all` built: ci/install.sh HEADER... with BUILD, PREFIX, DESTDIR, VERSION and
# LIBS in the environment. `make install` is the way to call it.
set -eu

root=${DESTDIR}${PREFIX}
put() { # put MODE DIRECTORY FILE...: files that were not built are passed over
    mode=$1 directory=$root/$2
    shift 2
    for file in "$@"; do
        [ -e "$file" ] || continue
        install -D -m "$mode" "$file" "$directory/$(basename "$file")"
    done
}

put 755 bin "$BUILD/alar"
put 644 lib "$BUILD/libalar.a"
put 755 lib/alar "$BUILD"/alar-*.so
put 644 include/alar "$@"
put 644 share/man/man1 ref/cli/alar.1

install -D -m 755 "$BUILD/libalar.so" "$root/lib/libalar.so.0"
ln -sf libalar.so.0 "$root/lib/libalar.so"

mkdir -p "$root/lib/pkgconfig"
cat > "$root/lib/pkgconfig/alar.pc" <<END
prefix=$PREFIX
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: alar
Description: asynchronous log all-reduce: reference engine and correctness oracle
Version: $VERSION
Cflags: -I\${includedir}/alar
Libs: -L\${libdir} -lalar
Libs.private: $LIBS
END
