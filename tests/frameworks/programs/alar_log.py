"""alar.Log in the place of any of them."""
import torch.distributed as dist

import toy
import watched

dist.init_process_group("gloo")
log = watched.Log(["loss"], log_interval=toy.interval, check_for_nan="count")
for part in toy.microbatches():
    log.add("loss", part.loss * part.tokens, part.tokens)
    if part.number + 1 == toy.accumulation:
        log.step()
        log.write()
log.close()
log.write()
dist.destroy_process_group()
