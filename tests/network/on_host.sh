#!/bin/sh
# on_host.sh [-OPTION]... HOST COMMAND...: the command, as a shell reads it, on one of the hosts that sites.py made: with
# a network, a name, System V IPC, /dev/shm, /sys and $ALAR_SITES/disk of its own, and the same files otherwise. It is also the
# remote shell of both launchers. HOST is hostN or an address that ends in N.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
n=${host#"${host%?}"}
# A fresh /sys, for UCX looks there for devices; own IPC and /dev/shm, or shared memory would pass the network by.
exec nsenter --net="/run/netns/$(cat "$ALAR_SITES/prefix")$n" unshare -m -u -i sh -c '
    n=$1
    shift
    hostname "host$n"
    mount --make-rprivate /
    mount -t tmpfs none /dev/shm
    umount -l /sys
    mount -t sysfs none /sys
    mount --bind "$ALAR_SITES/hosts" /etc/hosts
    mount --bind "$ALAR_SITES/disk$n" "$ALAR_SITES/disk"
    exec sh -c "$*"' sh "$n" "$@"
