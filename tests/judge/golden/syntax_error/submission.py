def double(text)
    return text + text
