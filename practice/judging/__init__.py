"""The judge. What happens to a submission, and which module does it:

1. `cli`, `commands`, `grading` or `notebook` takes it and asks `client` for a verdict.
2. `client` starts a warm process, `server`, and keeps it. `preload` loads there what the exercise
   needs; `exercises` reads the exercise.
3. `server` starts a process for this one submission (`process`: forked, or spawned beforehand),
   and `supervise` watches it from outside: deadlines, memory, number of processes, output. At the
   end `killing` ends it with all that it started.
4. In there `child` imports the exercise's `test.py`, then locks the process (`limits`, `landlock`,
   `guard`, `hiding`), then loads the submission, and has pytest run the tests with `plugin`.
   `watchdog` looks at the running stack shortly before a deadline. Reports are signed (`wire`).
5. `assemble` makes the `verdict`. A pass needs: each test that was known beforehand was run to its
   end and passed, every report was signed, and nothing that judges was replaced (`integrity`).
6. `mistakes` looks whether it is a known mistake; `story` tells it, `terminal`, `page`, `plain` and
   `exports` draw it; `progress` and `workspace` remember it.

What it can't do: keep a submission from reading files that aren't secret, nor keep secrets inside a
process from code that runs in that process and looks for them with effort (the signing key is in
its memory). Nothing that is done by mistake, or that a text on the web proposes, gets through.
"""
