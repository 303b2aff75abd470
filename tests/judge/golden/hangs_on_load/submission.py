ready = False
while not ready:
    pass


def double(text):
    return text + text
