"""What can go wrong."""


class TuneError(RuntimeError):
    """The run cannot go on; the text says why and what to do."""


class SampleFailure(RuntimeError):
    """One candidate cannot be used, which is a result as well."""

    def __init__(self, stage: str, reason: str) -> None:
        super().__init__(f"{stage}: {reason}")
        self.stage = stage
        self.reason = reason
