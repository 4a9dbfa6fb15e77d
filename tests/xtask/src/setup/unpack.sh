# Unpacks packages of Debian into a folder, and changes nothing of the machine.
#
# sh unpack.sh FOLDER "PROGRAM..." PACKAGE=VERSION...
#
# FOLDER/bin/PROGRAM is then a script that starts the program with its own libraries, wherever the folder is moved to.
set -e
mkdir -p "$1/downloads" "$1/unpacked" "$1/bin"
cd "$1"
programs=$2
shift 2
if [ $# -gt 0 ]; then
    # apt's own user may not write to every folder.
    (cd downloads && apt-get download --quiet=2 -o APT::Sandbox::User=root "$@")
    for package in downloads/*.deb; do
        dpkg-deb --extract "$package" unpacked
    done
fi
rm -r downloads
libraries=$(cd unpacked && find . -name 'lib*.so.*' -printf '$unpacked/%h\n' | sed 's,/\./,/,' | sort -u | paste -s -d :)
for program in $programs; do
    if [ ! -e "unpacked/usr/bin/$program" ]; then
        echo "the packages hold no $program" >&2
        exit 1
    fi
    cat > "bin/$program.new" <<END
#!/bin/sh
unpacked=\$(dirname "\$(readlink -f "\$0")")/../unpacked
LD_LIBRARY_PATH="$libraries" exec "\$unpacked/usr/bin/$program" "\$@"
END
    chmod 755 "bin/$program.new"
    # Renamed when it is whole: that it is there says that the program is.
    mv "bin/$program.new" "bin/$program"
done
