"""Autotuning: tries schedules of a pipeline, times them, trains the cost model on them.

settings     what a run is asked for
devices      what can be measured on
programs     starting other programs, with time limits
run_log      the append-only log from which everything else derives
samples      features of schedules, their hashes, sample files
candidates   which schedules a batch tries
workbench    from a candidate to a program
harness      from a program to a time, or the reason why there is none
training     retraining between batches
tuner        the loop
cluster      the loop on the machines of a Ray cluster; cluster_task, job: what these do
display      progress, as a live table or as lines
outcome      best schedules, samples and the report, from the log alone
report       the report as HTML with drawings inside
datasets     the same for many applications; predictions; averages of times
"""
