"""The guest's display: an RFB client, the screen that it keeps in step, and input.

rfb.py            the protocol: messages in, messages out
screen.py         `connect`, `Screen`: the picture in memory, waiting for quiet, listeners
input.py          `Input`: clicks, drags, the wheel, typing, held keys
keymap.py         which characters the guest's keyboard has, and how it gets others
guest_keymap.py   the part of that which runs in the guest
"""
