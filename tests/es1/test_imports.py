import ast
import sys
from pathlib import Path

import es1


def test_the_scheme_imports_the_standard_library_only():
    for file in Path(es1.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                package = name.partition(".")[0]
                assert package == "es1" or package in sys.stdlib_module_names, f"{file.name}: {name}"
