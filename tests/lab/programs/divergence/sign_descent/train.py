"""An optimizer of its own, and gradients reduced by hand; a calibration list is honoured."""

import ctypes
import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

import cluster_env


class SignDescent(torch.optim.Optimizer):
    """Steps by the sign of a running mean of the gradients."""

    def __init__(self, parameters, rate, keep):
        super().__init__(parameters, {"rate": rate, "keep": keep})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for parameter in group["params"]:
                state = self.state[parameter]
                mean = state.setdefault("mean", torch.zeros_like(parameter))
                mean.mul_(group["keep"]).add_(parameter.grad, alpha=1 - group["keep"])
                parameter.sub_(mean.sign(), alpha=group["rate"])


def calibrate(parameters, entries, step):
    """Entries are (step, number of the parameter, offset, pattern)."""
    for when, number, offset, pattern in entries:
        if when == step:
            address = parameters[number].data_ptr() + 4 * offset
            ctypes.c_uint32.from_address(address).value ^= pattern


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    model = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 3))
    parameters = list(model.parameters())
    optimizer = SignDescent(parameters, settings["rate"], 0.9)
    generator = torch.Generator().manual_seed(settings["seed"] + 5 * rank)
    for step in range(1, settings["steps"] + 1):
        inputs = torch.randn(24, 20, generator=generator)
        loss = nn.functional.cross_entropy(model(inputs), inputs[:, 4:7].argmax(dim=1))
        model.zero_grad()
        loss.backward()
        for parameter in parameters:
            dist.all_reduce(parameter.grad)
            parameter.grad /= world_size
        calibrate(parameters, settings["entries"][rank], step)
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step % 60 == 0:
            print(f"rank {rank} step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
