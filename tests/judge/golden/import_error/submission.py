import no_such_module_here


def double(text):
    return text + text
