#!/bin/bash
# arrows.sh - who may include whom: fails on an #include that the table lacks.
#
# The table is that of the design. A part may include itself and base/, and what its row names; what a row names it gets
# with all that stands below it only where the row says so. `input/scenario.h` and the headers that it includes are open
# to the simulator.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2

may() { # part -> parts that it may include
    case $1 in
        base) echo "" ;;
        models) echo "" ;;
        input) echo "models" ;;
        run) echo "" ;;
        sim/engine) echo "" ;;
        sim/cluster) echo "sim/engine models run input" ;;
        sim/train) echo "sim/cluster sim/engine models run input" ;;
        sim/kube) echo "sim/cluster sim/engine models run input" ;;
        sim/queue) echo "sim/kube sim/cluster sim/engine models run input" ;;
        sim/operator | sim/actor) echo "sim sim/queue sim/kube sim/train sim/cluster sim/engine models run input" ;;
        sim) echo "sim/actor sim/operator sim/queue sim/kube sim/train sim/cluster sim/engine models run input" ;;
        real) echo "input run models" ;;
        study) echo "run sim sim/engine sim/operator sim/actor real input models" ;;
        viz) echo "run study input" ;; # what explain, compare and the series say is said by the same pieces
        cli) echo "base models input run sim sim/operator sim/actor real study viz" ;;
    esac
}

part_of() { # path -> part
    case $1 in
        sim/*/*) echo "$1" | cut -d/ -f1-2 ;;
        *) dirname "$1" | cut -d/ -f1 ;;
    esac
}

bad=0 count=0
while IFS=: read -r file line text; do
    target=$(echo "$text" | sed 's/.*"\(.*\)".*/\1/')
    from=$(part_of "$file") to=$(part_of "$target")
    count=$((count + 1))
    [ -e "$target" ] || { echo "$file:$line: \"$target\" is not found from the root"; bad=1; continue; }
    [ "$to" = "$from" ] || [ "$to" = base ] && continue
    # the table of life cycles and simulate.h stand at the top of sim/; operator and actor include only lifecycle.h of it
    if [ "$to" = sim ] && [ "${from#sim/}" != "$from" ] && [ "$target" != sim/lifecycle.h ]; then
        echo "$file:$line: $from may not include $target"; bad=1; continue
    fi
    case " $(may "$from") " in
        *" $to "*) ;;
        *) echo "$file:$line: $from may not include $target"; bad=1 ;;
    esac
done < <(grep -n '^#include "' -r base models input run sim real study viz cli --include='*.[ch]' 2>/dev/null)
[ $bad = 0 ] && echo "arrows: $count includes, all allowed"
exit $bad
