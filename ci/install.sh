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

# Written by the program itself, from its tables of options.
write() { # write FILE ARGUMENT...: what alar prints
    file=$root/$1
    shift
    mkdir -p "$(dirname "$file")"
    "$BUILD/alar" "$@" >"$file"
}
write share/man/man1/alar.1 help --man
for command in $("$BUILD/alar" help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
    write "share/man/man1/alar-$command.1" help --man "$command"
done
write share/bash-completion/completions/alar completion bash
write share/zsh/site-functions/_alar completion zsh
write share/fish/vendor_completions.d/alar.fish completion fish

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
