"""Ray Train runs the same body. `ray_driver.py RANKS <arguments of train_body.py>`

Runs in the benchmark's own environment, never in the project's.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import ray
from ray.train import FailureConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer

HERE = os.path.dirname(os.path.abspath(__file__))


def body(config: dict[str, Any]) -> None:
    """One Ray worker."""
    sys.path.insert(0, config["path"])
    import train_body

    train_body.train(config["argv"])


def main(argv: list[str]) -> None:
    """Start a cluster of this machine, train, end it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    ranks = int(argv[0])
    ray.init(
        num_cpus=2 * ranks,
        include_dashboard=False,
        object_store_memory=200_000_000,
        _temp_dir=os.environ["BENCH_RAY_TMP"],
    )
    try:
        trainer = TorchTrainer(
            body,
            train_loop_config={"path": HERE, "argv": argv[1:]},
            torch_config=TorchConfig(backend="gloo"),
            scaling_config=ScalingConfig(num_workers=ranks, use_gpu=False),
            run_config=RunConfig(
                storage_path=argv[1], failure_config=FailureConfig(max_failures=3)
            ),
        )
        trainer.fit()
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main(sys.argv[1:])
