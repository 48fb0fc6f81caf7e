#!/usr/bin/env bash
# Draws build/bench/report.svg from build/bench/step.json: step time by schedule, with its interval,
# without a straggler and with one, 5 ms compute on 2 ranks, torch/gloo beside. `make bench-step` makes the numbers.
set -eu
cd "$(dirname "$0")/../.."
folder=${BUILD:-build}/bench
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for straggler in false true; do
    jq -r --argjson straggler "$straggler" '.tables[]
        | select(.ranks == 2 and .step_ms == 5 and .straggler == $straggler and (.grad | not))
        | .rows[] | select(.who != "alar FAULTS=0" and .schedule != "no log")
        | [(if .who == "alar" then "" else "torch: " end) + .schedule, .ratio, .low, .high] | @tsv' "$folder/step.json" >"$scratch/$straggler"
done
title=$(jq -r '.machine | "\(.cpu), \(.cores) cores, MPICH \(.mpich), gcc \(.compiler)"' "$folder/step.json")

gnuplot <<END
set terminal svg size 1000,460 font "sans,12"
set output "$folder/report.svg"
set title "Step time by reduction schedule, as a multiple of no log; 2 ranks, 5 ms compute a step\n{/*0.8 $title}"
set datafile separator "\t"
set style data histogram
set style histogram errorbars gap 1 lw 1
set style fill solid 0.8 border -1
set ylabel "step time / step time without a log"
set yrange [0.9:*]
set grid ytics
set key top right
set xtics rotate by -20
plot "$scratch/false" using 2:3:4:xtic(1) title "no straggler" linecolor rgb "#4c72b0", \
     "$scratch/true" using 2:3:4 title "one rank in turn half a step late" linecolor rgb "#dd8452"
END
sed -i "s/[[:space:]]*\$//" "$folder/report.svg"
echo "  written: $folder/report.svg"
