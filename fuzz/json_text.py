"""Any bytes as the text of a model file."""

from fuzz.target import allowed, run
from permissible.estimators.files import read_document
from permissible.models.strict_json import dump, parse


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
        "permissible.estimators.files",
        "permissible.models.strict_json",
        "permissible.models.node",
        "permissible.models.record",
        "permissible.models.document",
    )
