#!/bin/sh
# For RUSTC_WRAPPER: compiles our crates to the same code in every folder.
#
# Cargo names a crate that is outside the workspace by its path, and every crate that depends on it, too. The name is in
# all symbols, by which the linker sorts functions. Here each crate is named by itself; there is one of each in an image.
ours=no
for word; do
    case $word in calib_core | calib_drivers | calib_firmware | calib_classifier | boards) ours=$word ;; esac
done
if [ "$ours" != no ]; then
    for word; do
        shift
        case $word in metadata=*) word=metadata=$ours ;; esac
        set -- "$@" "$word"
    done
fi
exec "$@"
