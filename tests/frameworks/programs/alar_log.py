"""alar.Log in the place of any of them."""
import torch.distributed as dist

import alar
import ledger
import toy


def write(log):
    for report in log.reports():
        ledger.logged(report.first_step + 1, report.step + 1, report.value)  # its steps count from 0


dist.init_process_group("gloo")
log = alar.Log(["loss"], log_interval=toy.interval, check_for_nan="count")
for part in toy.microbatches():
    ledger.contributed(part.step, part.number, part.loss * part.tokens, part.tokens)
    log.add("loss", part.loss * part.tokens, part.tokens)
    if part.number + 1 == toy.accumulation:
        log.step()
        write(log)
log.close()
write(log)
dist.destroy_process_group()
