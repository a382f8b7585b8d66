"""A real broker, a real service, and helpers to look at what is delivered."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Callable

import aiomqtt
import pytest

from tablectl.services.broker import BrokerAccess, PrivateBroker, Role

MOSQUITTO = shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
needs_mosquitto = pytest.mark.skipif(MOSQUITTO is None, reason="mosquitto is not installed")


@pytest.fixture
async def broker() -> AsyncIterator[PrivateBroker]:
    """A private broker for table ``t1``."""
    async with PrivateBroker("t1") as running:
        yield running


def client(access: BrokerAccess, role: Role | None, password: str | None = None) -> aiomqtt.Client:
    """A new connection in a role, or anonymous."""
    login = access.credentials[role] if role else None
    assert access.address.unix is not None
    return aiomqtt.Client(
        hostname=str(access.address.unix),
        transport="unix",
        username=login.username if login else None,
        password=(password or login.password) if login else None,
    )


async def delivered(listener: aiomqtt.Client, within: float = 0.3) -> list[tuple[str, bytes]]:
    """Topics and payloads that arrive until nothing comes for a while."""
    got: list[tuple[str, bytes]] = []
    with contextlib.suppress(TimeoutError):
        while True:
            message = await asyncio.wait_for(anext(aiter(listener.messages)), within)
            assert isinstance(message.payload, bytes)
            got.append((message.topic.value, message.payload))
    return got


async def retained(access: BrokerAccess, role: Role = "daemon") -> dict[str, bytes]:
    """What a client that comes new is told."""
    async with client(access, role) as listener:
        await listener.subscribe("tablectl/#", qos=1)
        return dict(await delivered(listener))


async def cancel(task: asyncio.Task[object] | asyncio.Task[None]) -> None:
    """End a task that a test started."""
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def until(condition: Callable[[], bool], within: float = 10.0) -> None:
    """Wait for something that no event announces."""
    deadline = asyncio.get_running_loop().time() + within
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "waited too long"
        await asyncio.sleep(0.01)
