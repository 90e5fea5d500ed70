"""The guest's display: an RFB client, the screen that it keeps in step, and input.

rfb.py      the protocol: messages in, messages out
screen.py   `Screen`: the picture in memory, waiting for quiet, listeners
input.py    `Input`: clicks, drags, typing, held keys
"""
