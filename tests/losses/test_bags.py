"""The adaptive flavours draw from registered losses, in the papers' bags."""

from permissible import losses
from permissible.losses.registry import BAGS


def test_E22_the_bag_of_F_star_has_five_functions():
    # [I] says five and lists four; they are those of Table 1 and the power function ([N] section 6)
    assert len(BAGS["F*"]) == 5
    assert set(BAGS["F*"]) == set(BAGS["F1"]) | set(BAGS["F2"])


def test_the_bags_are_those_of_the_papers():
    # [N] section 6: bag 1 has the four phi of Table 1; bag 2 has phi_upsilon in the place of phi_B
    assert {losses.get(name).name for name in BAGS["F1"]} == {"mu", "matsushita", "logistic", "squared"}
    assert {losses.get(name).name for name in BAGS["F2"]} == {"mu", "matsushita", "logistic", "power"}
    assert BAGS["E1"] == BAGS["F1"]
    assert BAGS["E2"] == BAGS["F2"]


def test_every_loss_of_a_bag_is_registered():
    for bag in BAGS.values():
        for name in bag:
            assert losses.get(name).name in losses.names(permissible_only=True)
