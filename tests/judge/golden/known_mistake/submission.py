import re


def double(text):
    return re.sub(r"^\s+|\s+$", "", text) * 2
