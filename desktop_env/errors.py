"""Every failure names who is to blame, and its type is that blame.

    DeskgymError
    ├── UsageError              the caller: unknown name, wrong setting, calls out of order
    ├── InfraError              a machine, network or image; never a score
    │   ├── HostError           this host cannot do it; the message names the remedy
    │   ├── ImageError          an image is absent, damaged, or cannot be built
    │   ├── GuestError          the guest died or does not answer
    │   │   └── GuestTimeout    a call to the guest passed its deadline
    │   └── ScreenError         the display connection broke
    ├── TaskError               the task: its definition, data or setup
    ├── AgentError              the agent: its own code raised
    ├── ActionError             the agent: an action that cannot be carried out
    ├── FileRefused             the agent: a file that is too large or no regular file
    ├── EvaluationError         the evaluator broke
    │   └── NotKept             scoring again asks for what was not kept with the episode
    └── JudgeError              a model that judges broke

An episode ends with the status that `status_of` gives for the error, or with ``scored``.
"""

from __future__ import annotations


class DeskgymError(Exception):
    """Root of all errors raised on purpose. ``str(error)`` is one line, with the remedy where there is one."""

    status = "infra_error"


class UsageError(DeskgymError):
    """Raised when the caller asks for something that does not exist or calls methods out of order."""


class InfraError(DeskgymError):
    """Raised when a machine, the network or an image failed: the episode says nothing about the agent."""


class HostError(InfraError):
    """Raised when this host lacks what is needed (a program, a right, a kernel feature)."""


class ImageError(InfraError):
    """Raised when an image is absent, does not match its manifest, or cannot be built."""


class GuestError(InfraError):
    """Raised when the guest has died, or answers something that makes no sense."""


class GuestTimeout(GuestError):
    """Raised when a call to the guest passed its deadline."""


class ScreenError(InfraError):
    """Raised when the connection to the display broke or speaks another protocol."""


class TaskError(DeskgymError):
    """Raised when a task is defined wrongly or its setup misses a post-condition."""

    status = "task_error"


class AgentError(DeskgymError):
    """Raised when an agent's own code raised something; the cause is chained."""

    status = "agent_error"


class ActionError(DeskgymError):
    """Raised for an action that cannot be carried out as given; nothing of it was executed."""

    status = "agent_error"


class FileRefused(DeskgymError):
    """Raised for a path in the guest that is no regular file or larger than the reader allows."""

    status = "agent_error"


class EvaluationError(DeskgymError):
    """Raised when an evaluator broke; not when it found the work wrong."""

    status = "evaluation_error"


class NotKept(EvaluationError):
    """Raised when an evaluator asks for what was not kept with an episode: only a machine could tell."""


class JudgeError(DeskgymError):
    """Raised when a model that judges did not give a usable judgement."""

    status = "judge_error"


def status_of(error: DeskgymError) -> str:
    """Give the episode status that names who is to blame for ``error``."""
    return error.status


def told(error: BaseException) -> str:
    """Give what ``error`` says, or its kind where it says nothing."""
    return str(error) or type(error).__name__
