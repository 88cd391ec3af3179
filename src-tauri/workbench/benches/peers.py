"""No-op graphs in asyncio and LangGraph, for the table beside Toolplan's own figures.

Prints JSON: for each runner and shape the median microseconds a step. Building and compiling a graph is not counted,
as Toolplan's planning is not. A runner that is not installed is left out. Usage: peers.py REPEAT
"""

import asyncio
import gc
import json
import operator
import os
import platform
import statistics
import sys
import tempfile
import time
import uuid

STEPS = (100, 1000)


async def no_op():
    return {"ok": True}


async def asyncio_parallel(steps):
    await asyncio.gather(*(no_op() for _ in range(steps)))


async def asyncio_parallel_5(steps):
    slots = asyncio.Semaphore(5)

    async def limited():
        async with slots:
            return await no_op()

    await asyncio.gather(*(limited() for _ in range(steps)))


async def asyncio_chain(steps):
    for _ in range(steps):
        # A task for each step: awaiting the coroutine itself would never meet the event loop.
        await asyncio.create_task(no_op())


def median_us(run, steps, repeat):
    """The median of `repeat` timed runs after one to warm up."""
    run()
    times = []
    for _ in range(repeat):
        gc.collect()
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6 / steps


def measure_asyncio(repeat):
    figures = {}
    with asyncio.Runner() as runner:
        for shape, work in (
            ("parallel", asyncio_parallel),
            ("parallel_5", asyncio_parallel_5),
            ("chain", asyncio_chain),
        ):
            figures[shape] = {
                str(n): median_us(lambda n=n, work=work: runner.run(work(n)), n, repeat) for n in STEPS
            }
    return figures


def measure_langgraph(repeat, checkpointer):
    from typing import Annotated, TypedDict

    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        done: Annotated[int, operator.add]

    def node(_state):
        return {"done": 1}

    def graph(steps, chain):
        builder = StateGraph(State)
        for i in range(steps):
            builder.add_node(f"step-{i}", node)
        for i in range(steps):
            builder.add_edge(f"step-{i - 1}" if chain and i else START, f"step-{i}")
            if not chain or i == steps - 1:
                builder.add_edge(f"step-{i}", END)
        return builder.compile(checkpointer=checkpointer)

    figures = {}
    for shape, chain, limit in (("parallel", False, None), ("parallel_5", False, 5), ("chain", True, None)):
        figures[shape] = {}
        for steps in STEPS:
            compiled = graph(steps, chain)

            def run(compiled=compiled, steps=steps, limit=limit):
                config = {"recursion_limit": steps + 10, "configurable": {"thread_id": str(uuid.uuid4())}}
                if limit:
                    config["max_concurrency"] = limit
                state = compiled.invoke({"done": 0}, config)
                assert state["done"] == steps

            figures[shape][str(steps)] = median_us(run, steps, repeat)
    return figures


def main():
    repeat = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    about = [f"Python {platform.python_version()}"]
    report = {"asyncio": measure_asyncio(repeat)}
    try:
        import importlib.metadata

        version = importlib.metadata.version("langgraph")
        report["langgraph"] = measure_langgraph(repeat, None)
        about.append(f"LangGraph {version} (`invoke`)")
    except ImportError:
        about.append("LangGraph is not installed")
    try:
        from langgraph.checkpoint.sqlite import SqliteSaver

        with tempfile.TemporaryDirectory() as folder:
            with SqliteSaver.from_conn_string(os.path.join(folder, "checkpoints.db")) as saver:
                # Its runs are slow: fewer of them do.
                report["langgraph_sqlite"] = measure_langgraph(min(repeat, 3), saver)
        about.append("its `SqliteSaver` as the journal in the last column")
    except ImportError:
        about.append("langgraph-checkpoint-sqlite is not installed")
    report["about"] = ", ".join(about) + "."
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()
