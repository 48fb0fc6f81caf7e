#!/usr/bin/env bash
# Draws build/bench/report.svg from build/bench/step.json: step time over no log for five ways to log, 2 ranks,
# 5 and 20 ms of compute, nobody late and one rank in turn. `make bench-step` makes the numbers.
set -eu
cd "$(dirname "$0")/../.."
folder=${BUILD:-build}/bench
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# series NUMBER WHO SCHEDULE: position, ratio, low, high of each case, the series side by side in it.
series() {
    jq -r --argjson number "$1" --arg who "$2" --arg schedule "$3" '
        [[5, false], [5, true], [20, false], [20, true]] as $cases
        | [.tables[] | select(.ranks == 2 and (.grad | not))] as $tables
        | range(4) as $at | $tables[] | select([.step_ms, .straggler] == $cases[$at])
        | .rows[] | select(.who == $who and .schedule == $schedule)
        | [$at + 1 + ($number - 3) * 0.13, .ratio, .low, .high] | @tsv' "$folder/step.json" >"$scratch/$1"
}
series 1 alar "sync-microbatch"
series 2 alar "async-microbatch, wait step"
series 3 alar "sync-window"
series 4 alar "async-microbatch, wait log"
series 5 torch/gloo "sync-microbatch"
machine=$(jq -r '.machine | "\(.cpu), \(.cores) cores, MPICH \(.mpich), torch \(.torch)"' "$folder/step.json")

gnuplot <<END
set terminal svg size 960,420 font "sans,13" background rgb "white"
set output "$folder/report.svg"
set title "Step time with a log, as a multiple of no log; 2 ranks, medians with 95 % intervals\n{/*0.75 $machine}"
set datafile separator "\t"
set ylabel "times a step without a log"
set xrange [0.5:4.5]
set yrange [0.95:*]
set grid ytics lc rgb "#dddddd"
set bmargin 4
set key outside right center Left reverse spacing 1.4 samplen 1
set tics nomirror
set border 3
set xtics ("5 ms,\nnobody late" 1, "5 ms, one rank\n2.5 ms late" 2, "20 ms,\nnobody late" 3, "20 ms, one rank\n10 ms late" 4)
set arrow from 0.5,1 to 4.5,1 nohead lc rgb "#888888" dt 2
set bars 0.4
plot "$scratch/1" with yerrorbars pt 5 ps 0.8 lw 1.5 lc rgb "#d55e00" title "blocking, each microbatch", \
     "$scratch/2" with yerrorbars pt 9 ps 0.9 lw 1.5 lc rgb "#e69f00" title "asynchronous, waited each step", \
     "$scratch/3" with yerrorbars pt 7 ps 0.8 lw 1.5 lc rgb "#009e73" title "blocking, once a log line", \
     "$scratch/4" with yerrorbars pt 13 ps 1.0 lw 1.5 lc rgb "#0072b2" title "asynchronous, waited at the line", \
     "$scratch/5" with yerrorbars pt 4 ps 0.8 lw 1.5 lc rgb "#888888" title "torch/gloo, blocking"
END
sed -i "s/[[:space:]]*\$//" "$folder/report.svg"
echo "  written: $folder/report.svg"
