# accelerate gather_for_metrics: a scalar a rank is cut by the number of samples that are left, so ranks vanish.
#   torchrun --nproc-per-node 2 accelerate_remainder.py
# 3 rows on 2 ranks. Expected two numbers for each batch; found one for the last.
import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(torch.utils.data.DataLoader(torch.arange(3), batch_size=1))
for batch in loader:
    loss = torch.tensor([1.0 + accelerator.process_index])
    gathered = accelerator.gather_for_metrics(loss)
    if accelerator.is_main_process:
        print("gathered:", gathered.tolist())
torch.distributed.destroy_process_group()
