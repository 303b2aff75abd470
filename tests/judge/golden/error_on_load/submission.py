limit = int("many")


def double(text):
    return text + text
