def double(text):
    parts = {"ab": "abab"}
    return parts[text]
