# Login shells get what the desktop's programs have.
set -a
. /etc/environment
set +a
