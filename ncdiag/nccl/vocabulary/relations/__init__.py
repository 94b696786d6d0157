"""Relations between read facts: what does not fit, or says more together than alone.

`table` lists them: a kind of relation (`ncdiag.facts.model.relations`) is a function of the job that yields it with the
lines that it rests on, and a rule asks ``any(r.word == "bus-id-twice" for r in job.relations)``.
"""
