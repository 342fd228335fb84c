#!/bin/sh
# The command of the image. PostgreSQL refuses a user without a name, such as `--user 1234` brings.
set -eu
if ! getent passwd "$(id -u)" >/dev/null; then
	printf 'onceproof:x:%s:%s::%s:/bin/sh\n' "$(id -u)" "$(id -g)" "$HOME" >/tmp/.onceproof-passwd
	export LD_PRELOAD=libnss_wrapper.so
	export NSS_WRAPPER_PASSWD=/tmp/.onceproof-passwd NSS_WRAPPER_GROUP=/etc/group
fi
exec onceproof "$@"
