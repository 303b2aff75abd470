# caught by: test_keeps_little
"""You keep all bytes of the reply and decode them again at each token, so a token costs more the
longer the reply is.
"""

import codecs


def byte_table(vocab: dict[str, int], added: dict[str, int]) -> dict[int, bytes]:
    """The bytes of every token of a byte-level vocabulary."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {chr(byte): byte for byte in printable}
    others = [byte for byte in range(256) if byte not in set(printable)]
    alphabet.update((chr(0x100 + place), byte) for place, byte in enumerate(others))
    table = {token: bytes([alphabet[char] for char in entry]) for entry, token in vocab.items()}
    table.update((token, entry.encode("utf-8")) for entry, token in added.items())
    return table


class ByteDetokenizer:
    """One reply's text, as its tokens arrive."""

    def __init__(self, table: dict[int, bytes]) -> None:
        self.table = table
        self.raw = b""
        self.sent = 0

    def push(self, token: int) -> str:
        """What has become certain with this token."""
        self.raw += self.table[token]
        text = codecs.getincrementaldecoder("utf-8")("replace").decode(self.raw)
        new, self.sent = text[self.sent :], len(text)
        return new

    def finish(self) -> str:
        """What was held at the end."""
        return self.raw.decode("utf-8", errors="replace")[self.sent :]
