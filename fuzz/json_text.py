"""Any bytes as the text of a model file."""

from fuzz.target import allowed, run
from permissible.estimators.files.save_load import read_document
from permissible.models.files.strict_json import dump, parse


def one(data: bytes) -> None:
    """What can be read can be written, and reads the same."""
    try:
        document = parse(data)
    except ValueError as error:
        allowed(error)
        return
    assert parse(dump(document)) == document
    try:
        read_document(document, "a file", {})
    except ValueError as error:
        allowed(error)


if __name__ == "__main__":
    run(
        one,
        "permissible.estimators.files.save_load",
        "permissible.models.files.strict_json",
        "permissible.models.files.json_node",
        "permissible.models.files.record",
        "permissible.models.files.elements",
    )
