def double(text):
    result = text
    rounds = 3
    while rounds and not result:
        result += text
    return 2 * result
