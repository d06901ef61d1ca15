#!/bin/bash
# SPDX-License-Identifier: MIT
# Worked examples whose numbers were computed by hand, end to end: Tiresias Fig. 7 and the examples
# E5, E6, E8, E10, E11 and E12 of the policies' specification. E2, E3, E4 and E9 are unit tests.
# shellcheck disable=SC1091,SC2034,SC2154
. "$(dirname "$0")/common.bash"
. "$root/tests/cli/replay.bash"

# E5: Themis rounds. One bidder each; A wins at 0, 200, 400 and 600, B at 100, 300 and 500.
printf '%s\n' job_id,submit_time,num_gpus,duration,min_gpus,max_gpus \
	A,0,4,600,1,4 B,0,4,300,1,4 >trace.csv
replay 1x4 themis:lease_s=100,fairness_knob=0.5 --segments
app A rho 0.9
app B rho 1
app A n_avg 1.666666667
app A t_independent_s 1000
app B t_independent_s 600
runs A 0 900
runs B 100 600
of A preemptions 3
of B preemptions 2

# E6: the paper's rho and the capped one differ fourfold where a job cannot use its share: 200 GPU-s,
# at most 2 of 8 GPUs, 4 apps, done after 180 s. The others fill the machine for 80 s first.
printf '%s\n' job_id,submit_time,num_gpus,duration a,0,2,180 b,0,2,180 c,0,4,80 d,0,2,100 >trace.csv
replay 1x8 fifo
of d finish_s 180
app d t_shared_s 180
app d n_avg 3.444444444
app d rho 0.522580645
app d rho_capped 1.8

# E8: demotion after 3250 GPU-s, that is at 812.5 s
trace J1,0,4,2000 J2,100,2,1000
replay 1x4 tiresias --segments
of J1 finish_s 3000
of J2 finish_s 1812.5
of J1 jct_s 3000
of J2 jct_s 1712.5
replay 1x4 tiresias --set overheads.resume_s=62
of J1 finish_s 3062
replay 1x4 tiresias:promote_knob=1
of J1 finish_s 3000
of J2 finish_s 1812.5

# E10: srtf with a restart cost, and sjf
trace J1,0,4,100 J2,10,2,20 J3,15,4,50
replay 1x4 srtf --set overheads.resume_s=5
of J1 finish_s 175
of J1 jct_s 175
of J2 jct_s 20
of J3 jct_s 65
all jct_mean_s 86.666666667
replay 1x4 sjf
of J1 jct_s 100
of J2 jct_s 110
of J3 jct_s 155
all jct_mean_s 121.666666667

# E11: fifo and easy
trace A,0,2,100 B,1,4,50 C,2,2,80 D,3,2,120
replay 1x4 fifo
of B first_start_s 100
of C first_start_s 150
of D jct_s 267
all jct_mean_s 186
replay 1x4 easy
of C first_start_s 2
of B jct_s 149
of D jct_s 267
all jct_mean_s 149
all makespan_s 270

# E12 b: three jobs on two GPUs in turns of 60 s
trace J1,0,1,120 J2,0,1,120 J3,0,1,120
replay 1x2 gandiva:migration=false
of J1 finish_s 180
of J2 finish_s 120
of J3 finish_s 240
replay 1x2 gandiva --set overheads.migrate_s=2
of J1 finish_s 180
of J2 finish_s 120
of J3 finish_s 182

# Tiresias Fig. 7: 2 GPUs, jobs of (GPUs, length) (2,2), (1,8), (2,6), a second for a unit
trace J1,0,2,2 J2,0,1,8 J3,0,2,6
replay 1x2 srsf
of J1 finish_s 2
of J2 finish_s 10
of J3 finish_s 16
all jct_mean_s 9.333333333
replay 1x2 2d-las:quantum_s=1
of J1 finish_s 5
of J2 finish_s 14
of J3 finish_s 16
all jct_mean_s 11.666666667
replay 1x2 'tiresias:thresholds_gpu_s=[4,8]'
of J1 finish_s 2
of J2 finish_s 12
of J3 finish_s 16
all jct_mean_s 10
finish
