import sys


def double(text):
    if text == "ab":
        print("double of", text)
        print("héllo, 推理", file=sys.stderr, flush=True)
    return text + text
