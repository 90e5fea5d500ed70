"""Pure checks: values in, a finding out. No guest, no files, no network.

Every check takes the name of the finding, what was found (a value, or the `Fact` a probe gave) and what was expected.
"""
