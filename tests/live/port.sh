# port.sh - a port of 127.0.0.1 on which nobody listens; for the other scripts here, by `.`: port=$(free_port).
#
# Drawn below those that Linux gives to connections, and not from RANDOM, whose seed two tests side by side may share.
#
# SPDX-License-Identifier: GPL-3.0-or-later
free_port() {
    local port
    while port=$((20000 + SRANDOM % 12000)) && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
    echo $port
}
