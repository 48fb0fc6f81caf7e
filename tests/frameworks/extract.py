"""Functions of a checkout, taken out of their file at run time: the rest of it needs more than a CPU has."""
import ast
import os
import types


def functions(variable, path, names, **surroundings):
    """A namespace of the named functions of DIR/path, DIR being the value of the environment variable."""
    with open(os.path.join(os.environ[variable], path)) as file:
        tree = ast.parse(file.read())
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    exec(compile(tree, path, "exec"), surroundings)
    return types.SimpleNamespace(**surroundings)


def loop(variable, path, function, iterated, does):
    """The code of the for loop over `iterated` in a function that says `does` somewhere."""
    with open(os.path.join(os.environ[variable], path)) as file:
        tree = ast.parse(file.read())
    for outer in tree.body:
        if isinstance(outer, ast.FunctionDef) and outer.name == function:
            for node in ast.walk(outer):
                if isinstance(node, ast.For) and ast.unparse(node.iter) == iterated and does in ast.unparse(node):
                    return compile(ast.Module([node], []), path, "exec")
    raise SystemExit("%s: expected in %s a loop over %s" % (path, function, iterated))


def statements(variable, path, is_wanted):
    """The code of those statements anywhere in a file, in its order, once each."""
    with open(os.path.join(os.environ[variable], path)) as file:
        tree = ast.parse(file.read())
    found = {ast.unparse(node): node for node in ast.walk(tree) if isinstance(node, ast.stmt) and is_wanted(node)}
    return compile(ast.Module(sorted(found.values(), key=lambda node: node.lineno), []), path, "exec")


def documented(variable, path, name, **surroundings):
    """A function as a Markdown page shows it."""
    with open(os.path.join(os.environ[variable], path)) as file:
        blocks = file.read().split("```python\n")[1:]
    listing = next(block.split("```")[0] for block in blocks if "def %s(" % name in block)
    exec(compile(listing, path, "exec"), surroundings)
    return surroundings[name]
