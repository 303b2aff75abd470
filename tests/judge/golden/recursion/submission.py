def double(text):
    return double(text)
