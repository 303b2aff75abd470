"""What is said where a run doesn't count."""


def replaced(name: str) -> str:
    """The message about a function of the judge that a submission replaced."""
    return (
        f"Your code replaced {name}, which the judge itself works with, so the run doesn't count. "
        "Take the replacement out."
    )
