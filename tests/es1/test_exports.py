import es1


def test_everything_exported_exists_and_every_error_is_exported():
    assert all(hasattr(es1, name) for name in es1.__all__)
    errors = {error.__name__ for error in es1.ES1Error.__subclasses__()}
    assert errors | {"ES1Error"} <= set(es1.__all__)
