def double(text):
    return text.rstrip("\n") + text
