# caught by: test_added_tokens
"""You send added tokens through the alphabet of bytes. They stand for their own text, so encode
that.
"""

import codecs


def byte_table(vocab: dict[str, int], added: dict[str, int]) -> dict[int, bytes]:
    """The bytes of every token of a byte-level vocabulary."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {chr(byte): byte for byte in printable}
    others = [byte for byte in range(256) if byte not in set(printable)]
    alphabet.update((chr(0x100 + place), byte) for place, byte in enumerate(others))
    table = {token: bytes([alphabet[char] for char in entry]) for entry, token in vocab.items()}
    table.update(
        (token, bytes([alphabet.get(char, 63) for char in entry])) for entry, token in added.items()
    )
    return table


class ByteDetokenizer:
    """One reply's text, as its tokens arrive."""

    def __init__(self, table: dict[int, bytes]) -> None:
        self.table = table
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """What has become certain with this token."""
        return self.decoder.decode(self.table[token])

    def finish(self) -> str:
        """What was held at the end."""
        return self.decoder.decode(b"", final=True)
