"""Writing an ONNX graph: nodes and constants are named automatically, and all numbers have one type."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from permissible.losses.entropy import LinkFormula
from permissible.models.render.formula import Tree, tree_of

OPSET = 19
_OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "neg": "Neg", "exp": "Exp", "sqrt": "Sqrt", "ln": "Log"}


class Graph:
    """A graph under construction."""

    def __init__(self, dtype: str = "float32") -> None:
        import onnx

        from permissible.validation import refusal

        if dtype not in ("float32", "float64"):
            raise refusal("dtype", "'float32' or 'float64'", dtype)
        self.onnx = onnx
        number = onnx.TensorProto.FLOAT if dtype == "float32" else onnx.TensorProto.DOUBLE
        self.types = {"number": number, "text": onnx.TensorProto.STRING, "integer": onnx.TensorProto.INT64}
        self.dtype = np.dtype(dtype)
        self.nodes: list[object] = []
        self.constants: list[object] = []
        self.inputs: list[object] = []
        self.outputs: list[object] = []

    def input(self, name: str, kind: str, shape: Sequence[int | None]) -> None:
        """Declare an input; None is any number of rows."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, self.types[kind], self._shape(shape)))

    def output(self, name: str, value: str, kind: str, shape: Sequence[int | None]) -> None:
        """Declare an output that has the given value."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, self.types[kind], self._shape(shape)))

    def add(self, operator: str, *values: str, **attributes: object) -> str:
        """Add a node, and return the name of its result."""
        name = f"_{operator}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, list(values), [name], **attributes))
        return name

    def add_cast(self, value: str, kind: str) -> str:
        """Convert a value to another kind."""
        return self.add("Cast", value, to=self.types[kind])

    def as_number(self, value: str) -> str:
        """Truth values as 0 and 1."""
        return self.add_cast(value, "number")

    def numbers(self, values: object) -> str:
        """A constant of numbers; those beyond the number type become its largest."""
        array = np.asarray(values, dtype=np.float64)
        largest = float(np.finfo(self.dtype).max)
        clipped = np.where(np.isfinite(array), np.clip(array, -largest, largest), array)
        return self._constant(clipped.astype(self.dtype))

    def integers(self, values: Sequence[int]) -> str:
        """A constant of integers."""
        return self._constant(np.asarray(values, dtype=np.int64))

    def constant(self, values: object, kind: str) -> str:
        """A constant of the given kind."""
        if kind == "text":
            array = np.array(values, dtype=object)
            encoded = [str(text).encode("utf-8", "replace") for text in array.ravel()]
            name = f"_constant_{len(self.constants)}"
            self.constants.append(self.onnx.helper.make_tensor(name, self.types["text"], array.shape, encoded))
            return name
        return self.numbers(values) if kind == "number" else self._constant(np.asarray(values, dtype=np.int64))

    def zeros(self, shape: str) -> str:
        """Zeros of a shape that is known only when the graph runs."""
        value = self.onnx.helper.make_tensor("value", self.types["number"], [1], [0.0])
        return self.add("ConstantOfShape", shape, value=value)

    def any_equal(self, x: str, values: Sequence[object], kind: str) -> str:
        """Whether x of shape (n, 1) is one of the values."""
        listed = list(values) or ([""] if kind == "text" else [0])
        equal = self.add("Equal", x, self.constant([listed], kind))
        some = self.add(
            "ReduceMax", self.add("Cast", equal, to=self.onnx.TensorProto.FLOAT), self.integers([1]), keepdims=1
        )
        truth = self.add("Cast", some, to=self.onnx.TensorProto.BOOL)
        return truth if values else self.add("And", truth, self.add("Not", truth))

    def linked(self, score: str, known: LinkFormula) -> str:
        """The probability of a score by a formula."""
        limit = self.numbers(np.array(min(known.limit, 1e15)))
        size = self.add("Abs", score)
        below = self.add("Max", self.add("Neg", size), self.add("Neg", limit))
        beyond = self.add("GreaterOrEqual", size, limit)
        low = self.add("Where", beyond, self.numbers(0.0), self._value(tree_of(known), below))
        return self.add(
            "Where", self.add("Greater", score, self.numbers(0.0)), self.add("Sub", self.numbers(1.0), low), low
        )

    def _value(self, tree: Tree, x: str) -> str:
        """The value of a formula at x."""
        if isinstance(tree, list):
            return self.add(_OPERATORS[str(tree[0])], *(self._value(argument, x) for argument in tree[1:]))
        return x if isinstance(tree, str) else self.numbers(tree)

    def model(self) -> Any:
        """The finished model, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "permissible", self.inputs, self.outputs, self.constants)
        model = helper.make_model(graph, producer_name="permissible", opset_imports=[helper.make_opsetid("", OPSET)])
        model.ir_version = min(model.ir_version, 9)
        self.onnx.checker.check_model(model)
        return model

    def _constant(self, array: object) -> str:
        name = f"_constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def _shape(self, shape: Sequence[int | None]) -> list[int | str]:
        return ["rows" if size is None else size for size in shape]
