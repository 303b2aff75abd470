def double(text):
    return 2 * text
