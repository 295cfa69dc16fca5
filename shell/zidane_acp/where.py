"""What may be told of an exception whose text is not ours."""


def where(error: BaseException) -> str:
    """The kind of an exception and its place, never its text, which may hold a prompt or a key."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(error).__name__}{place}"
