"""What only the table written in Python shows; the rest is test_firmware_behaviour.py."""

from firmware_protocol import messages as m

from .virtual import VirtualSimulator


def test_the_emergency_stop_cuts_in_hardware_and_in_firmware_each_by_itself() -> None:
    table = VirtualSimulator()
    table.ready()
    table.start(m.BuildWalls(m.TileProgram.TILES_144))
    table.run(5)
    table.plant.e_stop_open = True
    table.plant.step(0.001)
    assert not table.plant.motors.any_on, "hardware, with the controller hung"
    table.plant.motors.pan = True
    table.plant.motors.lift = [1] * 4
    table.running.controller.tick(0.001)
    assert not table.plant.motors.any_on, "firmware, with the relay welded"
    table.plant.motors.centre = -1
    table.running.controller.tick(0.001)
    assert not table.plant.motors.any_on, "and it stays so while latched"
