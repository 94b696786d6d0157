"""The page of ``ncdiag serve``: a paste and files go in, the answer comes back; nothing leaves the machine.

`app` has the routes, `guard` who may ask, `uploads` what is taken in, `line` whose turn it is, `analysis` the process
of each analysis and `worker` what runs in it, `shown` the lines of the input and `page` the HTML around the answer.
"""
