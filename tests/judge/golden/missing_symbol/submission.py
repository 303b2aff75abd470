def doubled(text):
    return text + text
