"""The judge: see `server` for how a submission runs, `verdict` for what comes out."""
